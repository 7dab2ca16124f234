/*
 * KilleTable shows a table: it draws frames and animates what changed between two of them.
 *
 *   const table = new KilleTable(element);
 *   table.show(frame, {animate: true});
 *
 * A frame is what kille_env/pictures/frame.py returns: the table as SVG in two shapes, and what
 * happened on the way to it. The script lays nothing out. It finds the same things in two pictures
 * by their data-key and moves them from where they were to where they are.
 */
"use strict";

const KilleTable = (() => {
  const PACE = 520; // milliseconds for one frame at speed 1
  const BUBBLE = 2600; // milliseconds that a call stays to be read
  const BUBBLES = 4; // calls that can be read at a time
  const CROWD = 8; // seats from which on a call is shown without what it means
  const NARROW = 620; // elements below this width, in pixels, show the tall picture
  const EASE = "cubic-bezier(.4, 0, .2, 1)";
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");

  class KilleTable extends EventTarget {
    /** Speed of the animations: 1 is normal, 2 twice as fast. */
    speed = 1;

    #stage;
    #layer;
    #words;
    #svg = null;
    #frame = null;
    #tall;
    #queue = [];
    #running = false;
    #stepping = false;
    #steps = 0;
    #release = null;
    #animations = new Set();
    #pickable = new Set();
    #marked = new Set();

    /**
     * Events: "frame" before a frame is drawn (detail: the frame), "pick" when a person chooses a
     * card (detail: its place), "idle" when every frame has been shown.
     */
    constructor(element) {
      super();
      element.classList.add("kt");
      this.#stage = element.appendChild(make("div", "kt-stage"));
      this.#layer = element.appendChild(make("div", "kt-layer"));
      this.#words = element.appendChild(make("div", "kt-words"));
      this.#layer.setAttribute("aria-hidden", "true");
      this.#tall = this.#isNarrow();
      this.#stage.addEventListener("click", (event) => this.#onClick(event));
      new ResizeObserver(() => this.#onResize()).observe(element);
    }

    /** Shows a frame after those that wait; without animation at once, in place of them. */
    show(frame, {animate = true} = {}) {
      if (!animate) {
        this.skip();
        this.#announce(frame);
        this.#draw(frame);
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        this.#queue.push({frame, resolve});
        this.#run();
      });
    }

    /** The frame that is shown, or null. */
    get frame() {
      return this.#frame;
    }

    /** How many frames wait to be shown. */
    get waiting() {
      return this.#queue.length;
    }

    /** Whether a frame is being animated or waits. */
    get busy() {
      return this.#running;
    }

    /** While true, each waiting frame is shown by `step` alone. */
    get stepping() {
      return this.#stepping;
    }

    set stepping(value) {
      this.#stepping = value;
      this.#steps = 0;
      this.#release?.();
    }

    /** Shows the next waiting frame; one that is being animated is finished first. */
    step() {
      this.#steps = Math.min(this.#steps + 1, this.#queue.length);
      this.#finish();
      this.#release?.();
    }

    /** Shows everything that waits without animation. */
    skip() {
      for (const {frame, resolve} of this.#queue.splice(0)) {
        this.#announce(frame);
        this.#draw(frame);
        resolve();
      }
      this.#finish();
      this.#clear();
      this.#release?.();
    }

    /** Says which cards, by place, can be clicked, and which are marked. */
    offer(pickable, marked = []) {
      this.#pickable = new Set(pickable);
      this.#marked = new Set(marked);
      this.#dress();
    }

    /** The cards of the picture, their symbols by place: {"hand 0 1": "card-L5", ...}. */
    get cards() {
      const items = this.#svg ? [...keyed(this.#svg)] : [];
      return new Map(
        items.filter(([place]) => isCard(place)).map(([place, item]) => [place, cardOf(item)]),
      );
    }

    async #run() {
      if (this.#running) return;
      this.#running = true;
      while (this.#queue.length) {
        if (!(await this.#mayGoOn())) continue;
        const next = this.#queue.shift();
        if (!next) continue; // skipped in the meantime
        this.#announce(next.frame);
        await this.#animate(next.frame);
        next.resolve();
      }
      this.#running = false;
      this.dispatchEvent(new Event("idle"));
    }

    /** Waits for a step where frames are stepped through; false asks to look again. */
    async #mayGoOn() {
      if (!this.#stepping) return true;
      if (this.#steps > 0) return this.#steps-- > 0;
      await new Promise((resolve) => (this.#release = resolve));
      this.#release = null;
      return false;
    }

    #announce(frame) {
      this.dispatchEvent(new CustomEvent("frame", {detail: frame}));
    }

    #isNarrow() {
      return this.#stage.clientWidth < NARROW;
    }

    #onResize() {
      if (this.#isNarrow() === this.#tall) return;
      this.#tall = !this.#tall;
      this.#finish();
      if (this.#frame) this.#draw(this.#frame);
    }

    #onClick(event) {
      const place = event.target.closest("[data-key]")?.dataset.key;
      if (this.#pickable.has(place)) {
        this.dispatchEvent(new CustomEvent("pick", {detail: place}));
      }
    }

    #draw(frame) {
      this.#frame = frame;
      const holder = document.createElement("template");
      holder.innerHTML = this.#tall ? frame.tall : frame.wide;
      this.#svg = holder.content.querySelector("svg");
      this.#svg.setAttribute("aria-hidden", "true");
      this.#svg.removeAttribute("role");
      for (const title of this.#svg.querySelectorAll(":scope > title")) title.remove();
      this.#stage.replaceChildren(this.#svg);
      this.#words.textContent = `${frame.title}\n${frame.text}`;
      this.#dress();
    }

    #dress() {
      if (!this.#svg) return;
      for (const [place, item] of keyed(this.#svg)) {
        item.classList.toggle("kt-pickable", this.#pickable.has(place));
        item.classList.toggle("kt-marked", this.#marked.has(place));
      }
    }

    /* How one frame becomes the next. */

    async #animate(frame) {
      const before = this.#svg ? keyed(this.#svg) : null;
      const spots = before && new Map([...before].map(([key, item]) => [key, spotOf(item)]));
      this.#draw(frame);
      if (frame.dealt) this.#clear();
      this.#say(frame.calls);
      if (!before || still.matches) return;
      const pace = this.#pace();
      this.#moveCards(frame.moves, before, spots, pace);
      this.#pay(frame.paid, spots, pace);
      await Promise.all([...this.#animations].map((animation) => animation.finished));
    }

    #pace() {
      return PACE / this.speed / Math.max(1, this.#queue.length / 2);
    }

    #moveCards(moves, before, spots, pace) {
      const after = keyed(this.#svg);
      const origin = new Map(moves.map(([from, to]) => [to, from]));
      const leave = moves.length ? Math.min(60, (0.4 * pace) / moves.length) : 0;
      const time = pace - leave * Math.max(0, moves.length - 1);
      moves.forEach(([from, to], i) => {
        const start = spots.get(from);
        const end = after.get(to) ?? before.get(to);
        if (!start || !end) return;
        const target = isCard(to) ? after.get(to) : null;
        const card = isCard(from) ? before.get(from) : faceDown(target); // the pile itself stays
        if (!card) return;
        const arrival = target ? spotOf(end) : {...spotOf(end), scale: 0.25};
        this.#fly(card, target, start, arrival, {duration: time, delay: leave * i});
      });
      for (const [key, item] of after) {
        if (origin.has(key) || !isCard(key)) continue;
        if (!before.has(key)) this.#play(item, [{opacity: 0}, {opacity: 1}], {duration: pace / 2});
        else this.#settle(before.get(key), item, spots.get(key), pace);
      }
    }

    /** Moves a card that stays where it belongs: a hand closes up, a card is turned over. */
    #settle(old, item, start, pace) {
      const end = spotOf(item);
      if (cardOf(old) !== cardOf(item)) this.#fly(old, item, start, end, {duration: pace});
      else if (toCss(start) !== toCss(end)) {
        const path = [{transform: toCss(start)}, {transform: toCss(end)}];
        this.#play(item, path, {duration: pace / 2});
      }
    }

    /** Lets a copy of a card fly above all others; what it becomes appears when it arrives. */
    #fly(old, target, start, end, timing) {
      const copy = this.#svg.appendChild(old.cloneNode(true));
      copy.removeAttribute("data-key");
      copy.classList.remove("kt-pickable", "kt-marked");
      const path = [{transform: toCss(start)}, {transform: toCss(end)}];
      this.#play(copy, path, timing).finished.then(() => copy.remove(), () => copy.remove());
      if (!target) return;
      this.#play(target, [{opacity: 0}, {opacity: 0}], timing);
      if (cardOf(old) !== cardOf(target)) this.#turnOver(copy, target, timing);
    }

    #turnOver(copy, target, timing) {
      const inside = document.createElementNS("http://www.w3.org/2000/svg", "g");
      inside.append(...copy.childNodes);
      copy.append(inside);
      const face = target.cloneNode(true);
      const half = {duration: timing.duration / 2, delay: timing.delay};
      const narrow = {transform: "scaleX(0)"};
      const full = {transform: "scaleX(1)"};
      this.#play(inside, [full, narrow], half).finished.then(() => {
        inside.replaceChildren(...face.childNodes);
        this.#play(inside, [narrow, full], {duration: half.duration});
      }, () => {});
    }

    #play(item, keyframes, {duration, delay = 0}) {
      const timing = {duration, delay, easing: EASE, fill: "backwards"};
      const animation = item.animate(keyframes, timing);
      const done = () => this.#animations.delete(animation);
      this.#animations.add(animation);
      animation.finished.then(done, done);
      return animation;
    }

    #finish() {
      for (const animation of [...this.#animations]) animation.finish();
    }

    /* Calls and payments, above the picture. */

    #clear() {
      this.#layer.replaceChildren();
    }

    #say(calls) {
      for (const [seat, words, meaning] of calls) {
        const bubble = make("div", "kt-bubble");
        bubble.dataset.seat = seat;
        bubble.append(make("b", "", words), make("span", "", meaning));
        bubble.classList.toggle("kt-short", Boolean(words) && this.#isCrowded());
        bubble.firstChild.lang = "sv";
        for (const other of this.#layer.querySelectorAll(`[data-seat="${seat}"]`)) other.remove();
        this.#layer.append(bubble);
        this.#place(bubble, seat);
        if (this.#layer.querySelectorAll(".kt-bubble").length > BUBBLES) {
          this.#layer.querySelector(".kt-bubble").remove();
        }
        window.setTimeout(() => bubble.remove(), BUBBLE / this.speed);
      }
    }

    #pay(paid, spots, pace) {
      const pot = spots.get("pot") ?? this.#spot("pot");
      for (const [from, to, units] of payments(paid, Boolean(pot))) {
        const chip = this.#layer.appendChild(make("div", "kt-chip", amount(units)));
        const ends = [from, to].map((seat) => (seat === null ? pot : this.#seatSpot(seat)));
        const path = ends.map((spot) => ({transform: this.#toPixels(spot)}));
        this.#play(chip, path, {duration: pace}).finished.then(
          () => chip.remove(),
          () => chip.remove(),
        );
      }
    }

    #spot(key) {
      const item = this.#svg.querySelector(`[data-key="${key}"]`);
      return item ? spotOf(item) : null;
    }

    #seatSpot(seat) {
      const {width, height} = this.#svg.viewBox.baseVal;
      return this.#spot(`seat ${seat}`) ?? {x: width / 2, y: height / 2};
    }

    #scale() {
      return this.#stage.clientWidth / this.#svg.viewBox.baseVal.width;
    }

    #toPixels({x, y}) {
      const scale = this.#scale();
      return `translate(${x * scale}px, ${y * scale}px) translate(-50%, -50%)`;
    }

    /** Puts a bubble at a seat: over its hand if that is face down, or else beside it. */
    #place(bubble, seat) {
      const scale = this.#scale();
      const spot = this.#seatSpot(seat);
      const [width, height] = [bubble.offsetWidth, bubble.offsetHeight];
      const below = this.#isOpen(seat) && spot.y < 0.7 * this.#svg.viewBox.baseVal.height;
      const left = Math.min(
        Math.max(spot.x * scale - width / 2, 4),
        this.#stage.clientWidth - width - 4,
      );
      const edge = this.#isOpen(seat) ? this.#topOf(seat) : (spot.y - 24) * scale;
      const top = below ? (spot.y + 24) * scale + 8 : edge - height - 8;
      bubble.style.left = `${left}px`;
      bubble.style.top = `${Math.max(4, top)}px`;
      bubble.classList.toggle("kt-below", below);
      bubble.style.setProperty("--tip", `${spot.x * scale - left}px`);
    }

    #isCrowded() {
      return this.#svg.querySelectorAll('[data-key^="seat "]').length >= CROWD;
    }

    /** Whether a seat's hand can be seen. */
    #isOpen(seat) {
      const hand = [...this.cards].filter(([place]) => place.startsWith(`hand ${seat} `));
      return hand.some(([, card]) => card !== "card-back");
    }

    /** The upper edge of a seat's cards and plate, in pixels of the picture. */
    #topOf(seat) {
      const own = `[data-key="seat ${seat}"], [data-key^="hand ${seat} "]`;
      const items = [...this.#svg.querySelectorAll(own)];
      const tops = items.map((item) => item.getBoundingClientRect().top);
      return Math.min(...tops) - this.#stage.getBoundingClientRect().top;
    }
  }

  function make(tag, className, text = "") {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
  }

  function keyed(svg) {
    const items = svg.querySelectorAll("[data-key]");
    return new Map([...items].map((item) => [item.dataset.key, item]));
  }

  function spotOf(item) {
    const matrix = item.transform.baseVal.consolidate()?.matrix;
    if (!matrix) return {x: 0, y: 0, turn: 0, scale: 1};
    const turn = (Math.atan2(matrix.b, matrix.a) * 180) / Math.PI;
    return {x: matrix.e, y: matrix.f, turn, scale: Math.hypot(matrix.a, matrix.b)};
  }

  function toCss({x, y, turn, scale}) {
    const [across, down] = [x, y].map((value) => `${value.toFixed(1)}px`);
    return `translate(${across}, ${down}) rotate(${turn.toFixed(1)}deg) scale(${scale.toFixed(3)})`;
  }

  function isCard(place) {
    return /^(hand|open|trick) /.test(place);
  }

  function cardOf(item) {
    return item?.querySelector("use")?.getAttribute("href")?.slice(1) ?? null;
  }

  /** Returns a copy of a card as it lies in a pile, null for what is no card. */
  function faceDown(item) {
    const copy = item?.cloneNode(true) ?? null;
    copy?.querySelector("use").setAttribute("href", "#card-back");
    return copy;
  }

  /** Turns what each seat won or lost into [from, to, units]; null is the pot. */
  function payments(paid, hasPot) {
    if (hasPot) {
      return paid.map(([seat, units]) =>
        units < 0 ? [seat, null, -units] : [null, seat, units],
      );
    }
    const givers = paid.filter(([, units]) => units < 0).map(([seat, units]) => [seat, -units]);
    const takers = paid.filter(([, units]) => units > 0).map((pair) => [...pair]);
    const result = [];
    while (givers.length && takers.length) {
      const units = Math.min(givers[0][1], takers[0][1]);
      result.push([givers[0][0], takers[0][0], units]);
      for (const side of [givers, takers]) {
        side[0][1] -= units;
        if (side[0][1] < 1e-9) side.shift();
      }
    }
    return result;
  }

  function amount(units) {
    return String(Math.round(units * 100) / 100);
  }

  return KilleTable;
})();
