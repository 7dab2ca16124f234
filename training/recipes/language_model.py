"""A language model as a player, through the client library `openai`, which retries requests.

    pip install ".[measure]" openai
    python training/recipes/language_model.py qwen3 --url http://localhost:8000/v1

Any service with OpenAI's interface will do: vLLM, llama.cpp, Ollama, a provider. The key is read
from OPENAI_API_KEY. Answers are cached in a file, so an interrupted measurement resumes. Exact
NashConv takes 323 prompts at two seats under the rules `wikipedia`.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from openai import OpenAI

from kille_env.adapters.text import TextPlayer
from kille_training import evaluate


def remembered(function: Callable[[str], str], file: Path) -> Callable[[str], str]:
    """Return the function with a cache of answers in a file, one line of JSON each."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    answers: dict[str, str] = dict(json.loads(line) for line in lines)
    lock = Lock()

    def answer(prompt: str) -> str:
        if prompt not in answers:
            found = function(prompt)
            with lock, file.open("a", encoding="utf-8") as out:
                answers[prompt] = found
                out.write(json.dumps([prompt, found]) + "\n")
        return answers[prompt]

    return answer


def player(model: str, url: str | None, folder: Path, parallel: int = 8) -> TextPlayer:
    """Return the player of a model at an address."""
    client = OpenAI(base_url=url, max_retries=5, timeout=120.0)

    def ask(prompt: str) -> str:
        reply = client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": prompt}], temperature=0
        )
        return reply.choices[0].message.content or ""

    folder.mkdir(parents=True, exist_ok=True)
    answers = folder / f"{model.replace('/', '--')}.jsonl"
    return TextPlayer(remembered(ask, answers), name=model, parallel=parallel)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--url", help="address of the service, up to before /chat/completions")
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=2, help="seats")
    parser.add_argument("--rules", default="wikipedia", help="name of a preset")
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=Path("runs/language_models"))
    options = parser.parse_args()
    asked = player(options.model, options.url, options.folder)
    table = {"num_players": options.players, "rules": options.rules}
    print(evaluate(asked, options.game, **table, deals=options.deals))
