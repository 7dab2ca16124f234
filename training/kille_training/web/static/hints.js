/*
 * KilleHints shows what players would do: a bar for each choice and player, and what each choice is
 * worth where that is known.
 */
"use strict";

const RARE = 0.005; // choices that nobody makes more often than this are counted, not listed

class KilleHints {
  #element;

  constructor(element) {
    this.#element = element;
  }

  /** Shows advice: choices with "text", "probabilities" by player, and "worth" in units or null. */
  show(advice) {
    const players = [...new Set(advice.flatMap((one) => Object.keys(one.probabilities)))];
    const worth = advice.some((one) => one.worth !== null && one.worth !== undefined);
    if (!players.length && !worth) {
      this.#open(create("p", "", "No player gives advice in this game."));
      return;
    }
    const sorted = [...advice].sort((a, b) => merit(b) - merit(a));
    const rows = sorted.filter(isWorthSaying);
    const table = document.createElement("table");
    const heads = ["Choice", ...players, ...(worth ? ["Worth, units"] : [])];
    table.createTHead().insertRow().append(...heads.map((text) => headOf(text, "col")));
    const body = table.createTBody();
    for (const one of rows) {
      const row = body.insertRow();
      row.append(headOf(one.text, "row"));
      for (const player of players) this.#bar(row.insertCell(), one.probabilities[player]);
      if (worth) row.insertCell().textContent = units(one.worth);
    }
    const scroll = create("div", "scroll");
    scroll.tabIndex = 0;
    scroll.append(table);
    const others = advice.length - rows.length;
    const text = `${others} other ${others === 1 ? "choice" : "choices"}: hardly ever.`;
    const title = create("h2", "", "What players would do");
    this.#open(title, scroll, ...(others ? [create("p", "soft", text)] : []));
  }

  /** Takes the advice away: it is no longer about this decision. */
  clear() {
    this.#element.hidden = true;
    this.#element.replaceChildren();
  }

  #open(...content) {
    this.#element.replaceChildren(...content);
    this.#element.hidden = false;
    this.#element.scrollIntoView({block: "nearest"});
  }

  #bar(cell, probability) {
    const share = probability ?? 0;
    const bar = document.createElement("progress");
    bar.value = share;
    bar.setAttribute("aria-hidden", "true");
    cell.append(bar, create("span", "", `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`));
  }
}

/** Whether anything is known of a choice besides that nobody makes it. */
function isWorthSaying(choice) {
  return (choice.worth ?? null) !== null || likelihood(choice) >= RARE;
}

/** What choices are sorted by: their worth, or else how likely anybody makes them. */
function merit(choice) {
  return choice.worth ?? likelihood(choice);
}

function likelihood(choice) {
  return Math.max(...Object.values(choice.probabilities), 0);
}

function headOf(text, scope) {
  const head = create("th", "", text);
  head.scope = scope;
  return head;
}

function units(value) {
  if (value === null || value === undefined) return "";
  const rounded = Math.round(value * 100) / 100;
  return rounded > 0 ? `+${rounded}` : String(rounded).replace("-", "−");
}
