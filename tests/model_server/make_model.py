"""Writes a tiny model in GGUF that llama.cpp loads: one layer, random weights, and a few sentences it knows by heart.

The layer does nothing, so what the model says next depends on the last token alone: every token has a random vector, and the
output row of its successor points the same way. Which sentence it begins is decided by the last token of the prompt, and that is
up to the chat template.

    make_model.py FILE [--without-tools]
"""

import sys

import gguf
import numpy as np

WIDTH, HEADS, INNER, CONTEXT = 128, 2, 64, 1024
SURE = 60.0  # logit of the next word of a sentence
LESS_SURE = 30.0  # logit of what it says where a grammar forbids that word

# The beginning of each sentence is a control token, so that it is never said. No word may stand in two places.
SENTENCES = {
    "<|plain|>": ["The", " curtain", " rises", " at", " eight", "."],
    "<|tools|>": [
        "Let", " me", " look", ":", "\n<tool_call>", '\n{"name": "', "find_play", '", "arg', 'uments": {', '"title": ',
        '"Hamlet"', ', "act": ', "2", "}}", "\n</tool", "_call>",
    ],
    "<|result|>": ["It", " is", " on", " tonight", "!"],
    "<|endless|>": [" tick", " tock", " tick"],
}
OTHERWISE = {"2": "}"}

TURNS = """{%- for message in messages -%}
<|turn|>{{ message.role }}: {{ message.content }}
{% endfor -%}
"""

WITH_TOOLS = TURNS + """{%- if messages[-1].role == 'tool' -%}<|result|>
{%- elif 'endless' in messages[-1].content -%}<|endless|>
{%- elif tools -%}<|tools|>
{%- else -%}<|plain|>{%- endif -%}"""

# This one knows no tools. It calls one only when the prompt says how.
WITHOUT_TOOLS = """{%- for message in messages -%}
{%- if message.role not in ['system', 'user', 'assistant'] -%}
{{ raise_exception('Only system, user and assistant roles are supported!') }}
{%- endif -%}
{%- endfor -%}
""" + TURNS + """{%- if 'tool_response' in messages[-1].content -%}<|result|>
{%- elif '<tool_call>' in messages[0].content -%}<|tools|>
{%- else -%}<|plain|>{%- endif -%}"""


class Vocabulary:
    """Tokens with their kinds: control tokens, bytes, letters, and the words of the sentences."""

    def __init__(self):
        self.tokens, self.kinds = [], []
        self.add("<unk>", gguf.TokenType.UNKNOWN)
        self.add("<s>", gguf.TokenType.CONTROL)
        self.add("</s>", gguf.TokenType.CONTROL)
        for byte in range(256):
            self.add(f"<0x{byte:02X}>", gguf.TokenType.BYTE)
        for code in range(32, 127):
            self.add(chr(code), gguf.TokenType.NORMAL)
        for mark in ["<|turn|>", *SENTENCES]:
            self.add(mark, gguf.TokenType.CONTROL)
        for words in SENTENCES.values():
            for word in words:
                self.add(word, gguf.TokenType.NORMAL)

    def add(self, token, kind):
        if token.replace(" ", "▁") not in self.tokens:
            self.tokens.append(token.replace(" ", "▁"))
            self.kinds.append(kind)

    def number(self, token):
        return self.tokens.index(token.replace(" ", "▁"))

    def __len__(self):
        return len(self.tokens)


def weights(vocabulary):
    """The vector of every token, and the output row of every token."""
    random = np.random.default_rng(1)
    vectors = random.standard_normal((len(vocabulary), WIDTH)).astype(np.float32)
    vectors /= np.sqrt((vectors**2).mean(axis=1, keepdims=True))  # so that the norm leaves them as they are
    rows = np.zeros_like(vectors)
    for beginning, words in SENTENCES.items():
        ending = words[:0] if beginning == "<|endless|>" else ["</s>"]
        line = [vocabulary.number(token) for token in [beginning, *words, *ending]]
        for token, successor in zip(line, line[1:]):
            rows[successor] += vectors[token] * (SURE / WIDTH)
    for token, successor in OTHERWISE.items():
        rows[vocabulary.number(successor)] += vectors[vocabulary.number(token)] * (LESS_SURE / WIDTH)
    return vectors, rows


def write(path, template):
    vocabulary = Vocabulary()
    vectors, rows = weights(vocabulary)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_scores([0.0] * len(vocabulary))
    writer.add_token_types([int(kind) for kind in vocabulary.kinds])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(template)
    writer.add_tensor("token_embd.weight", vectors)
    writer.add_tensor("output.weight", rows)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for name, shape in layer().items():
        values = np.ones(shape, np.float32) if name.endswith("norm") else np.zeros(shape, np.float32)
        writer.add_tensor(f"blk.0.{name}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def layer():
    square = {f"attn_{name}": (WIDTH, WIDTH) for name in ["q", "k", "v", "output"]}
    inner = {"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
    return {"attn_norm": (WIDTH,), "ffn_norm": (WIDTH,), **square, **inner}


if __name__ == "__main__":
    write(sys.argv[1], WITHOUT_TOOLS if "--without-tools" in sys.argv else WITH_TOOLS)
