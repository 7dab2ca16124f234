/*
 * A table as somebody sees it, laid out by the browser. Frames are those of kille_env.pictures.frame.
 * The page of a match and the page of recorded matches show tables with it.
 */
"use strict";

const PILES = {talon: "stock", aside: "laid aside", "turned up": "trumps"};
const MOVE = 320, TURN = 240, SWEEP = 280, FADE = 120, SPEECH = 1600, TIP = 4000; // milliseconds
const LONGEST_CALL = 14; // letters of what is said on a plate

function make(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== "") element.textContent = text;
  return element;
}

/** Text that is seen and not read out; words beside it say the same. */
function unread(tag, text) {
  const element = make(tag, "", text);
  element.setAttribute("aria-hidden", "true");
  return element;
}

class KilleTable {
  constructor(cardNames, faces = cardNames) {
    this.cardNames = cardNames; // by code, what a card is called
    this.faces = faces; // by code, what to tell of a card
    this.names = [];
    this.you = 0;
    this.frame = null;
    this.next = -1; // the seat that one would swap with
    this.said = new Map(); // by seat, its last call and when it was made
    this.tag = "button"; // what the own cards are
    this.telling = 0; // the timer of what is told of a card
    new ResizeObserver(() => this.#fit()).observe(this.#at("middle"));
    document.addEventListener("pointerover", (event) => this.#tell(event));
  }

  sit(names, you) {
    [this.names, this.you] = [names, you];
    const others = names.length - 1;
    const columns = {
      wide: others <= 6 ? others : others <= 10 ? 5 : 7,
      tall: others <= 3 ? others : 4,
      flat: others <= 4 ? others : others <= 10 ? 5 : 7,
    };
    for (const [name, number] of Object.entries(columns)) document.body.style.setProperty(`--${name}`, number);
  }

  /** Shows a frame; `animate` moves what has moved. Resolves when it lies. */
  async show(frame, {animate = false, event = null} = {}) {
    const before = animate ? this.#places() : null;
    this.frame = frame;
    if (!animate || frame.dealt) this.said.clear();
    const short = frame.calls.filter(([, words]) => words.length <= LONGEST_CALL);
    for (const call of short.reverse()) this.said.set(call[0], [call, performance.now()]); // the first of each
    const stock = this.names.length > 8 ? frame.piles.filter(([place]) => place === "talon") : [];
    const facts = [...(frame.title ? frame.title.split(" · ") : []), ...stock.map(([, count]) => `stock ${count}`)];
    this.#at("title").replaceChildren(...facts.flatMap((fact, i) => {
      const trumps = fact.startsWith("trumps ");
      const told = trumps ? make("b", `trumps ${/[♥♦]/.test(fact) ? "red" : ""}`, fact) : fact;
      return i && !trumps ? [" · ", told] : [" ", told];
    }));
    const laid = frame.strip.some(([, place]) => place.startsWith("open"));
    document.body.classList.toggle("ended", frame.verdict !== "" || laid);
    this.#seats();
    this.#middle(facts.find((fact) => fact.startsWith("pot ")));
    this.#own();
    this.say(...(event ?? eventOf(frame)));
    this.#fit();
    if (before) await this.#move(before, frame.moves);
  }

  /** Writes the line in the middle. */
  say(text, more = "", kind = "") {
    const line = this.#at("event");
    line.textContent = text;
    if (more) line.append(make("small", kind, more));
  }

  /** Puts a list of results where the cards lie. */
  results(rows, many) {
    this.#at("piles").replaceChildren();
    const list = this.#at("strip");
    list.className = `results ${rows.length > 8 ? "crowded" : ""}`;
    list.tabIndex = 0;
    list.replaceChildren(...rows.map(([name, amount, total]) => {
      const row = make("li", name === this.names[this.you] ? "me" : "");
      row.append(make("b", "", name), make("span", {"-": "loss", "+": "gain"}[amount[0]] ?? "", amount.replace("-", "−")));
      if (many) row.append(make("span", "", `in all ${signed(total)}`));
      return row;
    }));
  }

  #at(id) {
    return document.getElementById(id);
  }

  #single() {
    return this.frame.seats.every((seat) => seat.cards.length <= 1 && seat.tricks === null);
  }

  #seats() {
    const count = this.names.length, single = this.#single();
    const list = this.#at("seats");
    list.className = `seats ${count <= 5 && single ? "big" : count > 5 ? "crowd" : ""}`;
    const others = Array.from({length: count - 1}, (_, i) => (this.you + 1 + i) % count);
    list.replaceChildren(...others.map((number, i) => {
      const seat = this.#seat(number, single);
      const middle = (others.length - 1) / 2;
      if (others.length > 2) seat.style.setProperty("--arc", `${Math.round(28 * ((i - middle) / middle) ** 2)}px`);
      return seat;
    }));
  }

  #seat(number, single) {
    const {seats, turn, dealer, calls, strip, verdict} = this.frame, seat = seats[number];
    const [said, when] = this.said.get(number) ?? [];
    const heard = said && (calls.includes(said) || performance.now() - when < SPEECH);
    const call = !verdict && heard && said;
    const room = this.names.length <= 5; // else the line in the middle says it
    const item = make("li", "seat");
    const acts = number === turn && !verdict;
    item.classList.toggle("turn", acts);
    if (acts) item.setAttribute("aria-current", "true");
    item.classList.toggle("out", !seat.present);
    item.classList.toggle("say", Boolean(call));
    item.classList.toggle("left", number === this.next);
    const shown = kept(seat.cards, strip);
    if (single && number !== this.you) item.append(...shown.map((card) => this.card(...card)));
    if (!single && number !== this.you && (shown.some(([, code]) => code) || (room && seat.present))) {
      const open = item.appendChild(make("div", shown.some(([, code]) => code) ? "mini" : "mini backs"));
      open.append(...shown.map((card) => this.card(...card)));
    }
    const plate = make("div", "plate"), top = make("p"), below = make("p");
    plate.dataset.key = `seat ${number}`;
    if (call) plate.dataset.tip = `“${call[1]}”: ${call[2]}`;
    if (number === dealer) plate.append(unread("i", "D"));
    top.append(make("b", "", this.names[number]));
    if (number === dealer) top.append(make("small", "sr", ", deals"));
    if (acts) top.append(make("small", "sr", ", to act"));
    if (!single && number !== this.you && shown.length && seat.present) {
      top.append(unread("s", `▮${shown.length}`), make("small", "sr", `, ${shown.length} ${shown.length === 1 ? "card" : "cards"}`));
    }
    below.append(make("span", "", call && room ? `“${call[1]}”` : seat.status || (seat.present ? "" : "out")), make("em", "", seat.chips));
    plate.append(top, below);
    item.append(plate);
    return item;
  }

  /** A card at a place; `tag` says what it is made of. */
  card(place, code, word = "", faded = false, tag = "span") {
    const card = make(tag, faded ? "card faded" : "card");
    card.dataset.key = place;
    if (code) card.dataset.code = code;
    card.innerHTML = `<svg viewBox="0 0 64 92" aria-hidden="true"><use href="#card-${code ?? "back"}"/></svg>`;
    if (word) card.append(make("b", "", word));
    if (code) card.setAttribute("aria-label", `${this.cardNames[code] ?? code}${word && `, ${word}`}`);
    if (code && tag === "span") card.setAttribute("role", "img");
    return card;
  }

  #middle(pot) {
    const {strip, piles} = this.frame;
    const list = this.#at("strip");
    list.className = "strip";
    list.removeAttribute("tabindex");
    list.replaceChildren(...strip.map(([seat, place, code, word, best]) => {
      const item = make("li", `${seat === this.you ? "me" : ""} ${best ? "best" : ""}`);
      const name = make("span", "name", this.names[seat]);
      item.append(this.card(place, code), name);
      if (word) item.append(make("span", "", word));
      return item;
    }));
    const around = this.names.length > 8 ? [] : piles.filter(([place]) => !strip.length || place === "turned up");
    this.#at("piles").classList.toggle("aside", strip.length > 0); // where the screen has room for it
    this.#at("piles").replaceChildren(...around.map(([place, count, top]) => {
      const pile = make("div", "pile");
      pile.append(this.card(place, top), make("span", "", place === "turned up" ? "trumps" : `${PILES[place] ?? place} ${count}`));
      return pile;
    }));
    if (!pot || strip.length || this.names.length > 8) return;
    const chips = this.#at("piles").appendChild(make("div", "pile pot"));
    chips.append(unread("i", pot.slice(4)), make("span", "", pot));
  }

  #own() {
    const {seats, strip} = this.frame, hand = this.#at("hand");
    const cards = kept(seats[this.you].cards, strip);
    const focused = hand.contains(document.activeElement) && document.activeElement.dataset.key;
    this.#at("own").style.setProperty("--cards", Math.max(cards.length, 1));
    hand.replaceChildren(...cards.map((card) => this.card(...card, this.tag)));
    if (focused) (hand.querySelector(`[data-key="${focused}"]`) ?? this.#at("dock"))?.focus({preventScroll: true});
    this.#at("me").replaceChildren(this.#seat(this.you, this.#single()));
  }

  /** Makes the cards in the middle as large as they fit, in one to three rows. */
  #fit() {
    const list = this.#at("strip"), middle = this.#at("middle"), number = list.children.length;
    if (!number || !list.classList.contains("strip")) return;
    const words = this.frame.strip.some(([, , , word]) => word) ? 18 : 0;
    const aside = this.#at("piles").offsetWidth; // on both sides, so that the cards stay in the middle
    const [width, height] = [middle.clientWidth - 16 - 2 * (aside && aside + 32), middle.clientHeight - this.#at("event").offsetHeight - 20];
    let [best, rows] = [0, 1];
    for (const r of [1, 2, 3]) {
      const w = Math.min(width / Math.ceil(number / r) - 8, 0.69 * ((height - 8 * (r - 1)) / r - 24 - words), innerWidth < 900 ? 96 : 144);
      if (w > best + 4) [best, rows] = [w, r];
    }
    list.style.setProperty("--w", `${Math.max(Math.floor(best), 20)}px`);
    list.style.setProperty("--k", Math.ceil(number / rows));
  }

  /** Where everything lies now, with a copy of it, by key. */
  #places() {
    const found = new Map();
    for (const element of document.querySelectorAll("[data-key]")) {
      found.set(element.dataset.key, [element.getBoundingClientRect(), element]);
    }
    return found;
  }

  async #move(before, moves) {
    const now = this.#places(), still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const flights = [];
    for (const [source, target] of moves.slice(0, 24)) {
      const plate = `seat ${source.split(" ")[1]}`; // where no cards are shown
      const [from, was] = before.get(source) ?? before.get(plate) ?? before.get("talon") ?? [this.#at("piles").getBoundingClientRect()];
      const goal = now.get(target) ?? now.get(target.replace("won ", "seat "));
      if (!goal) continue;
      const turned = goal[1].dataset.code && !was?.dataset.code;
      if (turned && !still) goal[1].firstChild.animate([{transform: "rotateY(90deg)"}, {}], {duration: TURN});
      const swept = !now.has(target);
      const moving = swept ? before.get(source)?.[1].cloneNode(true) : goal[1];
      if (!moving || (swept && still)) continue;
      const to = goal[0];
      if (swept) {
        Object.assign(moving.style, {position: "fixed", left: `${to.left}px`, top: `${to.top}px`, width: `${from.width}px`, zIndex: 2});
        document.body.append(moving);
      }
      const start = still ? {opacity: 0} : {transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)`};
      const flight = moving.animate([start, {}], {duration: still ? FADE : swept ? SWEEP : MOVE, easing: "cubic-bezier(.2,0,0,1)"});
      flights.push(flight.finished.catch(() => null).then(() => swept && moving.remove()));
    }
    await Promise.all(flights);
  }

  /** Tells what a face or a call means that the pointer rests on, or a finger taps. */
  #tell({target, pointerType: pointer}) {
    const {code, tip: words} = target.closest?.("[data-code], [data-tip]")?.dataset ?? {};
    let tip = document.getElementById("tip");
    if (!code && !words) return tip?.remove();
    tip ??= make("div");
    tip.id = "tip";
    tip.textContent = words ?? this.faces[code] ?? code;
    (target.closest("dialog") ?? document.body).append(tip);
    clearTimeout(this.telling);
    if (pointer === "touch") this.telling = setTimeout(() => tip.remove(), TIP); // no finger leaves a card
  }
}

/** The cards of a seat that do not lie in the middle. */
function kept(cards, strip) {
  const laid = new Set(strip.map(([, place]) => place));
  return cards.filter(([place]) => !laid.has(place) && !place.startsWith("trick"));
}

function signed(chips) {
  const shown = Number.isInteger(chips) ? Math.abs(chips) : Math.abs(chips).toFixed(2);
  return chips > 0 ? `+${shown}` : chips < 0 ? `−${shown}` : "0";
}

/** What stands in the middle of a frame: a line and a smaller one. */
function eventOf({lines, calls, verdict}) {
  const [first = "", second = ""] = lines.filter((line) => !line.startsWith(" "));
  if (verdict) return [verdict];
  const call = calls.find(([, words]) => !lines.some((line) => line.includes(words)));
  return [call ? `“${call[1]}” ${first}` : first, second];
}
