"""The names of `mercer.guests`, and where they live."""

from mercer.guests.dictionary_learning import DictionaryLearning as DictionaryLearning
from mercer.guests.pacmap_guest import PaCMAP as PaCMAP
from mercer.guests.tsne_guest import TSNE as TSNE
from mercer.guests.umap_guest import UMAP as UMAP
