/*
 * KilleChoices shows what the person may do, as buttons and on the cards of the picture.
 *
 * A choice that names one card is made by a click on it. Where choices name several cards, a click
 * marks a card, and the choice that fits the marked ones is confirmed. Choices are recognised by
 * the cards' codes, so that either of two equal cards will do.
 */
"use strict";

class KilleChoices extends EventTarget {
  #element;
  #table;
  #choices = [];
  #marked = new Set();
  #codes = new Map();
  #confirm = [];

  /** Events: "choose" (detail: the choice). */
  constructor(element, table) {
    super();
    this.#element = element;
    this.#table = table;
    table.addEventListener("pick", (event) => this.#pick(event.detail));
  }

  /** Shows choices; none clears the panel. */
  show(choices) {
    const focused = this.#element.contains(document.activeElement);
    this.#choices = choices;
    this.#marked.clear();
    this.#codes = codesOfPlaces(choices, this.#table.cards);
    this.#confirm = [];
    this.#element.replaceChildren(...groupsOf(choices).map((group) => this.#panel(group)));
    this.#refresh();
    this.buttons.forEach((button, i) => {
      if (i < 10) button.dataset.digit = String((i + 1) % 10);
    });
    if (focused) this.buttons[0]?.focus();
  }

  /** The buttons, in order. */
  get buttons() {
    return [...this.#element.querySelectorAll("button")];
  }

  /** Does what a key means here; returns whether it means anything. */
  press(key) {
    const enabled = this.buttons.filter((button) => !button.disabled);
    if (/^[0-9]$/.test(key)) {
      const button = enabled.find((one) => one.dataset.digit === key);
      button?.click();
      return Boolean(button);
    }
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[key];
    if (step && enabled.length) {
      const at = enabled.indexOf(document.activeElement);
      const next = at < 0 && step < 0 ? enabled.length - 1 : at + step;
      enabled[(next + enabled.length) % enabled.length].focus();
      return true;
    }
    return key === "Enter" && this.#confirmMarked();
  }

  #confirmMarked() {
    const fitting = this.#marked.size ? this.#fitting() : [];
    const only = fitting.length === 1 ? fitting[0] : this.#choices.length === 1 && this.#choices[0];
    if (only) this.#choose(only);
    return Boolean(only);
  }

  #choose(choice) {
    this.dispatchEvent(new CustomEvent("choose", {detail: choice}));
  }

  #pick(place) {
    const sets = this.#choices.some((choice) => choice.cards.length > 1);
    if (!sets) this.#marked = new Set(this.#marked.has(place) ? [] : [place]);
    else if (!this.#marked.delete(place)) this.#marked.add(place);
    const fitting = this.#fitting();
    if (!sets && fitting.length === 1) this.#choose(fitting[0]);
    else this.#refresh();
  }

  /** The choices that name exactly the marked cards. */
  #fitting() {
    const marked = sorted([...this.#marked].map((place) => this.#codes.get(place)));
    return this.#choices.filter((choice) => named(choice) && sorted(codesOf(choice)) === marked);
  }

  #refresh() {
    this.#table.offer([...this.#codes.keys()], [...this.#marked]);
    const fitting = this.#fitting();
    for (const {button, verb} of this.#confirm) {
      const choice = fitting.find((one) => verbOf(one) === verb);
      button.disabled = !choice;
      button.firstChild.textContent = this.#label(verb, choice);
      button.onclick = () => choice && this.#choose(choice);
    }
    for (const button of this.#element.querySelectorAll("[data-place]")) {
      button.setAttribute("aria-pressed", this.#marked.has(button.dataset.place));
    }
    for (const button of this.#element.querySelectorAll("[data-action]")) {
      const fits = fitting.some((one) => String(one.action) === button.dataset.action);
      button.classList.toggle("fits", fits);
    }
  }

  #label(verb, choice) {
    if (this.#marked.size) return choice?.text ?? `${verb}: not these cards`;
    return choice ? `${verb} nothing` : `${verb} …`;
  }

  #panel({verb, meaning, choices}) {
    const panel = create("div", "choice-group");
    const buttons = panel.appendChild(create("div", "choice-buttons"));
    if (choices.some((choice) => choice.cards.length > 1)) {
      const places = new Set(choices.flatMap((choice) => choice.cards));
      for (const place of [...places].sort(byPlace)) buttons.append(this.#toggle(place));
      const button = buttons.appendChild(labelled("", "main"));
      this.#confirm.push({button, verb});
    } else {
      for (const choice of choices) buttons.append(this.#button(choice));
    }
    if (choices.every((choice) => choice.group === "word")) explain(buttons.firstChild, meaning);
    else if (meaning) panel.append(create("p", "meaning", meaning));
    return panel;
  }

  #toggle(place) {
    const button = labelled(this.#codes.get(place), "toggle");
    button.dataset.place = place;
    button.setAttribute("aria-label", `mark ${this.#codes.get(place)}`);
    button.addEventListener("click", () => this.#pick(place));
    return button;
  }

  #button(choice) {
    const button = labelled(choice.text, "main");
    button.dataset.action = choice.action;
    button.addEventListener("click", () => this.#choose(choice));
    return button;
  }
}

/* How choices are read: "discard L4 L12" is a verb and the codes of its cards. */

function verbOf(choice) {
  return choice.text.split(" ")[0];
}

function codesOf(choice) {
  return choice.text.split(" ").slice(1).map((code) => code.replace("*", ""));
}

/** Whether a choice is about cards: it names some, or is the "discard" that names none. */
function named(choice) {
  return choice.cards.length > 0 || choice.group === "cards";
}

function sorted(codes) {
  return codes.sort().join(" ");
}

function byPlace(a, b) {
  return Number(a.split(" ").at(-1)) - Number(b.split(" ").at(-1));
}

/** Returns the codes of cards by place: those that are named, and others that look the same. */
function codesOfPlaces(choices, cards) {
  const codes = new Map();
  for (const choice of choices) {
    const said = codesOf(choice);
    choice.cards.forEach((place, i) => codes.set(place, said[i]));
  }
  const hands = new Set([...codes.keys()].map((place) => place.replace(/ \d+$/, " ")));
  const looks = new Map([...codes].map(([place, code]) => [cards.get(place), code]));
  for (const [place, card] of cards) {
    const own = [...hands].some((hand) => place.startsWith(hand));
    if (own && looks.has(card) && !codes.has(place)) codes.set(place, looks.get(card));
  }
  return codes;
}

/** Gathers choices that mean the same: one group for each verb with cards, one for each other. */
function groupsOf(choices) {
  const groups = new Map();
  for (const choice of choices) {
    const verb = verbOf(choice);
    if (!groups.has(verb)) groups.set(verb, {verb, meaning: choice.meaning, choices: []});
    groups.get(verb).choices.push(choice);
  }
  for (const group of groups.values()) {
    const cards = group.choices.some((choice) => choice.cards.length > 0);
    for (const choice of group.choices) choice.group = cards ? "cards" : "word";
  }
  return [...groups.values()];
}

/** Writes in a button what it means. */
function explain(button, meaning) {
  button.classList.add("explained");
  button.append(create("small", "", meaning));
}

function labelled(text, kind) {
  const button = create("button", kind);
  button.type = "button";
  button.append(create("span", "", text));
  return button;
}

function create(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}
