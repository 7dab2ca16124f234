/*
 * The list of tables: a form that opens a new one.
 */
"use strict";

(() => {
  const main = document.getElementById("page");
  const form = document.getElementById("order");
  const trouble = document.getElementById("trouble");
  const games = JSON.parse(document.getElementById("games").textContent);
  const fields = form.elements;

  function fill(select, options, chosen) {
    select.replaceChildren(
      ...options.map(([value, text]) => new Option(text, value, false, value === chosen)),
    );
  }

  function range(least, most) {
    return Array.from({length: most - least + 1}, (_, i) => [String(least + i), String(least + i)]);
  }

  function game() {
    return games.find((one) => one.name === fields.game.value);
  }

  function showGame() {
    const {least, most, usual, players, presets} = game();
    fill(fields.players, range(least, most), String(usual));
    const opponents = players.map((name) => [name, name.replaceAll("_", " ")]);
    fill(fields.opponents, opponents, "rule_of_thumb");
    fill(fields.preset, presets.map((name) => [name, name]), presets[0]);
    showPlayers();
  }

  function showPlayers() {
    const others = Number(fields.players.value) - 1;
    fill(fields.people, range(0, others), fields.people.value);
    showPeople();
  }

  function showPeople() {
    fields.practice.disabled = fields.people.value !== "0";
    fields.opponents.disabled = fields.people.value === String(Number(fields.players.value) - 1);
  }

  async function open() {
    const people = Number(fields.people.value);
    const answer = await fetch("/tables", {
      method: "POST",
      headers: {"Content-Type": "application/json", "X-Kille-Token": main.dataset.token},
      body: JSON.stringify({
        game: fields.game.value,
        players: Number(fields.players.value),
        people,
        opponents: fields.opponents.disabled ? [] : [fields.opponents.value],
        rules: {preset: fields.preset.value, episode: fields.episode.value},
        practice: fields.practice.checked && people === 0,
        name: fields.name.value,
      }),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error);
    window.location.assign(`/tables/${encodeURIComponent(said.id)}`);
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    trouble.textContent = "";
    try {
      await open();
    } catch (error) {
      const silent = error instanceof TypeError; // what fetch throws where nobody answers
      const text = silent ? "The server does not answer; try again in a moment." : error.message;
      trouble.textContent = text;
      button.disabled = false;
    }
  });
  fields.game.addEventListener("change", showGame);
  fields.players.addEventListener("change", showPlayers);
  fields.people.addEventListener("change", showPeople);
  fill(fields.game, games.map((one) => [one.name, one.title]), games[0].name);
  showGame();
})();
