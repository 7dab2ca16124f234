/*
 * Who sits at the table, and what the matches have brought them.
 */
"use strict";

class KillePeople extends EventTarget {
  #element;
  #shown = "";

  /** Events: "sit" and "leave" (detail: the seat). */
  constructor(element) {
    super();
    this.#element = element;
  }

  /** Shows the seats of a state. */
  show({seats}) {
    const shown = JSON.stringify(seats);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const open = [...this.#element.querySelectorAll("details")].map((details) => details.open);
    const lines = seats.map((seat, i) => this.#line(seat, i, open[i] ?? false));
    this.#element.replaceChildren(...lines);
  }

  #line(seat, number, open) {
    const line = create("li", "person");
    const title = create("summary");
    title.append(create("b", "", seat.name), create("span", "state", stateOf(seat)));
    const details = create("details");
    details.open = open;
    details.append(title, create("p", "", seat.about || aboutPeople(seat)));
    line.append(details);
    if (isFree(seat)) line.append(this.#button("Sit here", "sit", number, seat.name));
    else if (seat.you) line.append(this.#button("Leave", "leave", number, seat.name));
    return line;
  }

  #button(text, type, seat, name) {
    const button = create("button", "", text);
    button.type = "button";
    button.setAttribute("aria-label", `${text}: ${name}`);
    button.addEventListener("click", () =>
      this.dispatchEvent(new CustomEvent(type, {detail: seat})),
    );
    return button;
  }
}

function isFree(seat) {
  return seat.person && !seat.taken;
}

function stateOf(seat) {
  if (seat.you) return "you";
  if (isFree(seat)) return "free seat";
  if (seat.thinking) return "is thinking …";
  if (!seat.person) return "";
  return seat.here ? "here" : "away";
}

function aboutPeople(seat) {
  if (isFree(seat)) return "Nobody sits here. Send somebody the address of this page.";
  return seat.you ? "That is you, in front of this page." : "A person, in front of another page.";
}

/** Returns a table of what everybody has won or lost in a match, the best first. */
function resultsTable({returns}, {seats, you}) {
  const table = document.createElement("table");
  table.createTHead().insertRow().append(headOf("Player", "col"), headOf("Units", "col"));
  const order = returns.map((_, seat) => seat).sort((a, b) => returns[b] - returns[a]);
  const body = table.createTBody();
  for (const seat of order) {
    const row = body.insertRow();
    if (you.includes(seat)) row.className = "own";
    row.append(headOf(seats[seat].name, "row"));
    row.insertCell().textContent = units(returns[seat]);
  }
  const scroll = create("div", "scroll");
  scroll.tabIndex = 0;
  scroll.append(table);
  return scroll;
}
