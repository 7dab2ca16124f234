/* The start page: plays the game that is chosen. */
"use strict";

// A page that the browser has kept does not know of the match that was begun since.
addEventListener("pageshow", ({persisted}) => persisted && location.reload());

for (const form of document.querySelectorAll(".game")) {
  const opponents = form.elements.opponents;
  const tell = () => (form.querySelector(".what").textContent = opponents.selectedOptions[0].title);
  opponents.addEventListener("change", tell);
  tell();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const {waits} = document.body.dataset, title = form.querySelector("h2").textContent;
    if (waits && !confirm(`Your match of ${waits} is not over. Begin ${title}, and lose it?`)) return;
    const {players, opponents, episode, preset} = Object.fromEntries(new FormData(form));
    const order = {game: form.dataset.game, players: Number(players), opponents: [opponents], rules: {preset, episode}};
    const answer = await fetch("/new", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(order)}).catch(() => null);
    if (answer?.ok) return location.assign("/table");
    const trouble = document.getElementById("trouble");
    trouble.hidden = false;
    trouble.textContent = answer ? (await answer.json()).error : "The server does not answer. Start it again with kille play.";
  });
}
