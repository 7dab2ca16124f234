/* The start page: plays the game that is chosen. */
"use strict";

for (const form of document.querySelectorAll(".game")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const {players, opponents, episode, preset} = Object.fromEntries(new FormData(form));
    const order = {game: form.dataset.game, players: Number(players), opponents: [opponents], rules: {preset, episode}};
    const answer = await fetch("/new", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(order)}).catch(() => null);
    if (answer?.ok) return location.assign("/table");
    const trouble = document.getElementById("trouble");
    trouble.hidden = false;
    trouble.textContent = answer ? (await answer.json()).error : "The server does not answer. Start it again with kille play.";
  });
}
