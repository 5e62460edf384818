"""Reads {folders, date, texts, chats} from a file and writes {texts, chats} per folder: the token ids that transformers gives."""

import datetime
import json
import sys

# No tokenizer needs it, and it takes long to import.
sys.modules["torch"] = None

from transformers import AutoTokenizer
from transformers.utils import chat_template_utils

with open(sys.argv[1], encoding="utf-8") as file:
    asked = json.load(file)


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(asked["date"])


def answer(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return {
        "texts": [tokenizer.encode(text, add_special_tokens=False) for text in asked["texts"]],
        "chats": [
            tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False) for chat in asked["chats"]
        ],
    }


chat_template_utils.datetime = Fixed
json.dump([answer(folder) for folder in asked["folders"]], sys.stdout)
