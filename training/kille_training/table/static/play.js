/* The page of a match: shows what happens beat by beat, and plays what its person chooses. */
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const LEAST = 250, TOGETHER = 6000, ALONE = 800, WORD = 600, WATCHED = 1500, THINKS = 1000, AGAIN = 500; // milliseconds
  const table = new KilleTable(JSON.parse(document.body.dataset.names), JSON.parse(document.body.dataset.faces));
  const touch = matchMedia("(hover: none)").matches;
  let state = null, queue = [], showing = false, held = null, marked = [], watching = false, timer = 0, source = null;
  let verdict = "";
  let thought = -LEAST; // when it was last said that somebody is thinking

  /* The stream. */

  function listen() {
    const since = state ? `?since=${state.epoch}:${state.version}` : "";
    source = new EventSource(`/events${since}`);
    source.onmessage = ({data}) => hear(JSON.parse(data));
    source.addEventListener("gone", () => location.replace("/table"));
    source.onerror = () => {
      source.close();
      document.body.classList.add("lost");
      $("hint").textContent = "Connection lost. Your seat is kept. If the server has stopped, start it again with kille play.";
      setTimeout(listen, AGAIN);
    };
  }

  /** Asks for everything again: what was clicked did not count. */
  function anew() {
    source.close();
    state = null;
    listen();
  }

  function hear(news) {
    document.body.classList.remove("lost");
    if (news.fresh) {
      [queue, held, verdict] = [[], null, ""];
      $("log").replaceChildren();
      log({lines: [$("sentences").textContent, $("ranking").textContent, news.company], verdict: ""});
      for (const [lines, why] of news.earlier) log({lines, verdict: why});
    }
    const waiting = news.frames.filter((frame) => frame.number > news.seen);
    const past = news.frames.filter((frame) => !waiting.includes(frame)); // seen here before, or in another tab
    state = news;
    if (news.names.length) table.sit(news.names, news.you);
    for (const frame of past) log(frame);
    if (past.length) {
      [queue, held, verdict] = [[], null, past.at(-1).verdict];
      table.show(past.at(-1));
    }
    queue.push(...waiting);
    if (news.preparing) table.say("Setting the table …", "The first start of a game may take a minute.");
    if (!showing) run();
  }

  async function send(path, body = {}) {
    const answer = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)}).catch(() => null);
    if (answer && !answer.ok) $("hint").textContent = (await answer.json()).error;
    return Boolean(answer?.ok);
  }

  /* Beats. */

  const speed = () => Number($("speed").value);
  const pause = (time) => new Promise((done) => setTimeout(done, time));

  async function run() {
    showing = true;
    clearTimeout(timer);
    while (queue.length && !held) {
      settle();
      const unread = thought + LEAST - performance.now();
      if (unread > 0 && speed() > 0) {
        await pause(unread);
        continue;
      }
      const all = queue.reduce((sum, frame) => sum + frame.beat, 0);
      const frame = queue.shift();
      let event = null;
      if (frame.lines.length === 1 && speed() > 0) event = gather(frame);
      const stretch = Math.min(1, TOGETHER / all) / speed();
      const opens = frame.moves.some(([, to]) => to.startsWith("open "));
      const act = frame.verdict && speed() > 0 ? deciding(frame, opens) : null;
      if (act) {
        const epoch = state?.epoch;
        await table.show(act, {animate: true});
        await pause(Math.max(LEAST, (opens ? WORD : frame.beat) * stretch));
        if (state?.epoch !== epoch) continue; // another match has begun
      }
      log(frame);
      if (frame.dealt) verdict = "";
      verdict = frame.verdict || verdict;
      if (frame.verdict && queue.length === 0 && state.asked) event = [frame.verdict];
      if (!event && verdict && !frame.verdict) event = [eventOf(frame)[0], verdict];
      if (speed() > 0) {
        await table.show(frame, {animate: !act || opens, event});
        if (!frame.verdict) await pause(Math.max(LEAST, frame.beat * stretch));
      } else table.show(frame, {event});
      if (frame.verdict && (queue.length || !state.asked) && !(state.out && watching === "end")) hold(frame);
    }
    showing = false;
    settle();
  }

  /** Shows neighbors that say the same as one beat: "Bertil and Cecilia keep the card." */
  function gather(frame) {
    const parts = (one) => {
      const name = table.names.find((each) => one.lines[0]?.startsWith(`${each} `));
      return name ? [name, one.lines[0].slice(name.length + 1)] : [null, one.lines[0]];
    };
    const [name, rest] = parts(frame);
    const names = [name];
    while (name && name !== "You" && queue[0]?.lines.length === 1 && !queue[0].verdict) {
      const [other, same] = parts(queue[0]);
      if (!other || other === "You" || same !== rest || queue[0].calls.some(([, words]) => words.length > LONGEST_CALL)) break;
      log(frame);
      Object.assign(frame, queue.shift());
      names.push(other);
    }
    if (names.length < 2) return null;
    const [verb, ...more] = rest.split(" ");
    return [`${names.slice(0, -1).join(", ")} and ${names.at(-1)} ${verb.replace(/((?<=ss)e)?s(?=\.?$)/, "")} ${more.join(" ")}`];
  }

  /** What has decided a deal, to be seen before the cards are shown: a word, or the last card of a trick. */
  function deciding(frame, opens) {
    const [deed, next = ""] = frame.lines;
    if (!deed || deed === frame.verdict || deed.startsWith(" ")) return null;
    const calls = frame.calls.filter(([, words]) => !frame.lines.some((line) => line.includes(words)));
    if (opens) return {...table.frame, calls, lines: [deed], moves: [], verdict: ""};
    return {...frame, calls, lines: [deed, next], verdict: ""};
  }

  /** A deal's end stays until the person goes on. */
  function hold(frame) {
    held = frame;
    if (state.out && watching) timer = setTimeout(goOn, WATCHED);
  }

  function goOn() {
    if (!held) return;
    clearTimeout(timer);
    send("/see", {version: held.number});
    held = null;
    if (!showing) run();
  }

  function log({lines, verdict: why}) {
    const pot = (text) => text.includes("the pot of");
    for (const line of lines.filter((one) => one !== why && !(pot(one) && pot(why)))) {
      const deal = line.match(/^Deal \d+/);
      $("log").append(make("li", deal ? "deal" : line.startsWith(" ") ? "part" : "", line.trim().replace(/ {2,}/g, " · ")));
    }
    if (why) $("log").append(make("li", "deal", why));
    toLast();
  }

  function toLast() {
    $("log").parentElement.scrollTop = $("log").scrollHeight;
  }

  /* What the person can do. */

  /** Writes what is asked now, or what can be done. */
  function settle() {
    if (!state) return;
    const idle = !queue.length && !showing;
    const seats = table.frame?.seats ?? [];
    $("standings").textContent = seats.map(({chips}, seat) => `${table.names[seat]} ${chips}`).join(" · ");
    marked = [];
    ask("", []);
    $("hint").textContent = "";
    document.body.classList.remove("won");
    for (const card of places()) {
      card.classList.remove("no", "up");
      card.removeAttribute("aria-pressed");
    }
    table.next = -1;
    clearTimeout(timer);
    if (state.failed && idle) return ask(state.failed, [["To the games", "/"]]);
    if (held) return atEnd();
    if (!idle) return;
    if (state.preparing) $("hint").textContent = $("sentences").textContent;
    if (state.over && state.results) return result();
    if (state.asked) return decide();
    const turn = table.frame?.turn ?? -1;
    if (turn >= 0 && turn !== state.you) timer = setTimeout(() => {
      thought = performance.now();
      table.say(`${table.names[turn]} is thinking …`, verdict);
    }, THINKS);
  }

  function ask(question, buttons) {
    const focused = $("choices").contains(document.activeElement);
    $("question").textContent = question;
    $("choices").replaceChildren(...buttons.map(([label, act, go]) => {
      const button = make(typeof act === "string" ? "a" : "button", `${typeof act === "string" ? "button" : ""} ${go ? "go" : ""}`, label);
      if (typeof act === "string") button.href = act;
      else button.addEventListener("click", act);
      return button;
    }));
    if (focused) $("dock").focus({preventScroll: true}); // Tab leads to the new choices
  }

  function atEnd() {
    const last = state.over && !queue.length;
    if (state.out && !watching && !last) {
      return ask("You are out of this match.", [
        ["Watch", () => ((watching = true), goOn()), true],
        ["Go to the result", () => ((watching = "end"), goOn())],
      ]);
    }
    const more = queue.some((frame) => !frame.dealt) && !queue[0]?.dealt;
    ask("", [[last ? "See the result" : more ? "Go on" : "Next deal", goOn, true]]);
    if (state.out && watching === true) timer = setTimeout(goOn, WATCHED);
  }

  function result() {
    const {text, rows, matches, cut} = state.results;
    watching = false;
    if (state.seen < state.version) send("/see", {version: state.seen = state.version});
    table.say(text);
    table.results(rows, matches > 1);
    document.body.classList.toggle("won", text.startsWith("You win"));
    ask("", [["Play again", () => send("/again"), true], ["See the replay", "/replay"], ["To the games", "/"]]);
    $("hint").textContent = [verdict, cut ? "The match was cut off." : "", matches > 1 ? `${matches} matches so far.` : ""].filter(Boolean).join(" ");
  }

  function decide() {
    const {question, choices, hint} = state.asked;
    if (choices.length === 1) {
      const [only] = choices;
      const card = /^(Play|Lead) /;
      $("question").textContent = card.test(only.label) ? `${only.label.replace(card, "Only")} may be played.` : `${only.label}: nothing else is possible.`;
      if (places().length > 1) $("hint").textContent = question;
      timer = setTimeout(() => choose(only), speed() > 0 ? ALONE : 0);
      return;
    }
    const left = choices.some(({label}) => label.startsWith("Swap with"));
    if (left) {
      table.next = table.names.indexOf(choices.find(({label}) => label.startsWith("Swap with")).label.slice(10));
      table.show(table.frame, {event: verdict ? [eventOf(table.frame)[0], verdict] : null});
    }
    if (verdict) table.say(verdict);
    else if (state.first) table.say(eventOf(table.frame)[0], $("sentences").textContent, "about");
    const cards = choices.some(({cards: named}) => named.length);
    ask(question, cards ? [] : choices.map((choice) => [choice.label, () => choose(choice)]));
    $("hint").textContent = $("hinting").checked && hint ? `Hint: ${hint[0].toLowerCase()}${hint.slice(1)}` : "";
    if (cards) offer();
  }

  function choose({action}) {
    if (!state.asked) return;
    clearTimeout(timer);
    const {version} = state;
    state.asked = null;
    settle();
    clearTimeout(timer);
    send("/act", {version, action}).then((done) => !done && source.readyState === 1 && anew());
  }

  /* Cards in the own hand. */

  const places = () => [...$("hand").children];
  const codes = (cards) => cards.map((place) => places().find((card) => card.dataset.key === place)?.dataset.code).sort().join(" ");
  const sets = () => state.asked.choices.some(({text}) => text.startsWith("discard"));
  const fitting = (cards) => state.asked.choices.filter((choice) => (choice.cards.length || sets()) && codes(choice.cards) === codes(cards));

  function offer() {
    for (const card of places()) {
      card.classList.toggle("no", !sets() && !fitting([card.dataset.key]).length);
      card.classList.toggle("up", marked.includes(card.dataset.key));
      card.setAttribute("aria-pressed", marked.includes(card.dataset.key));
    }
    const found = sets() || marked.length ? fitting(marked) : [];
    const others = state.asked.choices.filter(({cards, text}) => !cards.length && !text.startsWith("discard"));
    ask($("question").textContent, [...found, ...others].map((choice) => [choice.label, () => choose(choice), found.length === 1 && marked.length > 0]));
    const most = Math.max(...state.asked.choices.map(({cards}) => cards.length));
    const wrong = marked.length > most ? `At most ${most} ${most === 1 ? "card" : "cards"}` : "Not these cards";
    const cue = !found.length ? (marked.length ? wrong : touch ? "Choose a card" : "Click a card to play it") : sets() && !marked.length ? "Or choose cards to change" : "";
    if (!cue) return;
    const word = make("p", "cue", cue);
    if (marked.length) word.setAttribute("role", "alert");
    $("choices")[found.length ? "append" : "prepend"](word);
  }

  function pick(card, again) {
    if (!state?.asked || held || queue.length || showing || !state.asked.choices.some(({cards}) => cards.length)) return;
    const place = card.dataset.key;
    if (sets()) marked = marked.includes(place) ? marked.filter((one) => one !== place) : [...marked, place];
    else {
      const found = fitting([place]);
      if (!found.length) {
        $("hint").textContent = `This card may not be played now. ${state.asked.question}`;
        return;
      }
      if (found.length === 1 && (again || marked[0] === place)) return choose(found[0]);
      marked = [place];
    }
    offer();
  }

  $("hand").addEventListener("click", (event) => {
    const card = event.target.closest(".card");
    if (card) pick(card, event.pointerType !== "touch" && !touch);
  });

  /* Bar, menu, keys. */

  $("rules").addEventListener("click", () => $("sheet").showModal());
  $("more").addEventListener("click", () => {
    $("standings").after(...$("side").children);
    $("menu-sheet").showModal();
    toLast();
  });
  $("menu-sheet").addEventListener("close", () => $("side").append(...[...$("menu-sheet").children].filter((one) => !one.matches("form, #standings"))));
  for (const id of ["speed", "hinting"]) {
    const kept = localStorage.getItem(id), input = $(id), key = id === "speed" ? "value" : "checked";
    if (kept !== null) input[key] = id === "speed" ? kept : kept === "true";
    input.addEventListener("change", () => (localStorage.setItem(id, input[key]), id === "hinting" && !showing && settle()));
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("select, input, summary, dialog")) return;
    const buttons = [...$("choices").querySelectorAll("button, a")];
    const number = Number(event.key) - 1;
    const cards = state?.asked?.choices.some(({cards: named}) => named.length) && !held && !queue.length;
    if (event.key === "Enter" && !event.target.closest("button, a")) (buttons.find((button) => button.classList.contains("go")) ?? (buttons.length === 1 ? buttons[0] : null))?.click();
    else if (number >= 0 && number < 9) (cards && places()[number] ? pick(places()[number], false) : buttons[number]?.click());
    else if (event.key === "h") $("hinting").click();
    else if (event.key === "?") $("sheet").showModal();
    else if (event.key === "m" && $("more").offsetParent) $("more").click();
    else return;
    event.preventDefault();
  });
  listen();
})();
