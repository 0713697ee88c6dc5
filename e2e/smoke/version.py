"""Prints which transformers and torch this binary links."""

import torch
import transformers

print("transformers", transformers.__version__, "torch", torch.__version__)
