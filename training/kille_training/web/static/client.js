/*
 * KilleClient speaks with the server about one table: states come as server-sent events, what the
 * person does goes as POST. A lost connection is opened again from the version that was seen last.
 */
"use strict";

class KilleClient extends EventTarget {
  #base;
  #token;
  #version = -1;
  #source = null;
  #failures = 0;
  #lost = false;  // whether the last trouble is that of the connection

  /**
   * Events: "state" (detail: the state, with the frames that are new), "trouble" (detail: a
   * sentence, "" when it is over).
   */
  constructor(table, token) {
    super();
    this.#base = `/tables/${encodeURIComponent(table)}`;
    this.#token = token;
    window.addEventListener("online", () => this.listen());
    window.addEventListener("pagehide", () => this.#source?.close());
    window.addEventListener("pageshow", (event) => event.persisted && this.listen());
  }

  /** Opens the stream of states. */
  listen() {
    this.#source?.close();
    const source = new EventSource(`${this.#base}/events?since=${this.#version}`);
    this.#source = source;
    source.addEventListener("state", (event) => {
      this.#failures = 0;
      if (this.#lost) this.#trouble("");  // what a question met stays to be read
      this.#receive(JSON.parse(event.data));
    });
    source.addEventListener("gone", (event) => {
      source.close();
      this.#trouble(sentence(JSON.parse(event.data).error));
    });
    source.addEventListener("error", () => {
      source.close();
      if (this.#source === source) this.#listenLater();
    });
  }

  /** Asks for something: "act", "undo", "sit" ...; returns the answer, null if it was refused. */
  async ask(what, content = {}) {
    const answer = await this.#post(what, {version: this.#version, ...content});
    if (answer === null) {
      this.#trouble("The server does not answer. Nothing is lost; try again in a moment.");
      return null;
    }
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      const error = said.error ?? `the server answers ${answer.status}; reload the page`;
      this.#trouble(sentence(error));
      if (answer.status === 409) this.listen();
      return null;
    }
    this.#trouble("");
    return said;
  }

  async #post(what, content) {
    try {
      return await fetch(`${this.#base}/${what}`, {
        method: "POST",
        headers: {"Content-Type": "application/json", "X-Kille-Token": this.#token},
        body: JSON.stringify(content),
      });
    } catch {
      return null;
    }
  }

  #receive(state) {
    const seen = this.#version;
    if (state.version < seen) return;
    this.#version = state.version;
    const frames = state.frames.filter((frame) => !(frame.version <= seen));
    this.#tell("state", {...state, frames});
  }

  async #listenLater() {
    const source = this.#source;
    this.#failures += 1;
    this.#trouble("The connection is lost. Trying again …", true);
    const refusal = this.#failures > 1 ? await this.#refusal() : null;
    if (refusal) this.#trouble(refusal, true);
    const wait = Math.min(5000, 500 * this.#failures);
    if (!refusal) window.setTimeout(() => this.#source === source && this.listen(), wait);
  }

  /** Why the server, if it is there, will not show this table; null where it is not there. */
  async #refusal() {
    try {
      const answer = await fetch(`${this.#base}/state?since=${this.#version}`);
      return answer.ok || answer.status === 429 ? null : sentence((await answer.json()).error);
    } catch {
      return null;
    }
  }

  #trouble(said, lost = false) {
    this.#lost = lost;
    this.#tell("trouble", said);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, {detail}));
  }
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
