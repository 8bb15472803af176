"""What to cite: the papers behind losses, priors and kernels, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import version
from types import SimpleNamespace

BIBTEX = r"""
@inproceedings{zheng2015,
  title = {Linear Time Samplers for Supervised Topic Models using Compositional Proposals},
  author = {Zheng, Xun and Yu, Yaoliang and Xing, Eric P.},
  booktitle = {Knowledge Discovery and Data Mining (KDD)}, year = {2015}
}
@article{magnusson2018,
  title = {Sparse Partially Collapsed {MCMC} for Parallel Inference in Topic Models},
  author = {Magnusson, M{\aa}ns and Jonsson, Leif and Villani, Mattias and Broman, David},
  journal = {Journal of Computational and Graphical Statistics}, volume = {27}, number = {2}, year = {2018}
}
@inproceedings{porteous2008,
  title = {Fast Collapsed {Gibbs} Sampling for Latent {Dirichlet} Allocation},
  author = {Porteous, Ian and Newman, David and Ihler, Alexander and Asuncion, Arthur and Smyth, Padhraic
            and Welling, Max},
  booktitle = {Knowledge Discovery and Data Mining (KDD)}, year = {2008}
}
@inproceedings{zhu2013,
  title = {Improved {Bayesian} Logistic Supervised Topic Models with Data Augmentation},
  author = {Zhu, Jun and Zheng, Xun and Zhang, Bo},
  booktitle = {Association for Computational Linguistics (ACL)}, year = {2013}
}
@inproceedings{linderman2015,
  title = {Dependent Multinomial Models Made Easy: Stick-Breaking with the {P{\'o}lya-Gamma} Augmentation},
  author = {Linderman, Scott W. and Johnson, Matthew J. and Adams, Ryan P.},
  booktitle = {Advances in Neural Information Processing Systems}, volume = {28}, year = {2015}
}
@article{magnusson2020,
  title = {{DOLDA}: A Regularized Supervised Topic Model for High-Dimensional Multi-Class Regression},
  author = {Magnusson, M{\aa}ns and Jonsson, Leif and Villani, Mattias},
  journal = {Computational Statistics}, volume = {35}, year = {2020}
}
@article{zhu2014,
  title = {{Gibbs} Max-Margin Topic Models with Data Augmentation},
  author = {Zhu, Jun and Chen, Ning and Perkins, Hugh and Zhang, Bo},
  journal = {Journal of Machine Learning Research}, volume = {15}, year = {2014}
}
@article{blei2003,
  title = {Latent {Dirichlet} Allocation},
  author = {Blei, David M. and Ng, Andrew Y. and Jordan, Michael I.},
  journal = {Journal of Machine Learning Research}, volume = {3}, year = {2003}
}
@inproceedings{mcauliffe2007,
  title = {Supervised Topic Models},
  author = {Mcauliffe, Jon and Blei, David},
  booktitle = {Advances in Neural Information Processing Systems (NIPS)}, year = {2007}
}
@article{griffiths2004,
  title = {Finding Scientific Topics},
  author = {Griffiths, Thomas L. and Steyvers, Mark},
  journal = {Proceedings of the National Academy of Sciences}, volume = {101}, year = {2004}
}
@inproceedings{yao2009,
  title = {Efficient Methods for Topic Model Inference on Streaming Document Collections},
  author = {Yao, Limin and Mimno, David and McCallum, Andrew},
  booktitle = {Knowledge Discovery and Data Mining (KDD)}, year = {2009}
}
@inproceedings{li2014,
  title = {Reducing the Sampling Complexity of Topic Models},
  author = {Li, Aaron Q. and Ahmed, Amr and Ravi, Sujith and Smola, Alexander J.},
  booktitle = {Knowledge Discovery and Data Mining (KDD)}, year = {2014}
}
@inproceedings{yuan2015,
  title = {{LightLDA}: Big Topic Models on Modest Computer Clusters},
  author = {Yuan, Jinhui and Gao, Fei and Ho, Qirong and Dai, Wei and Wei, Jinliang and Zheng, Xun
            and Xing, Eric Po and Liu, Tie-Yan and Ma, Wei-Ying},
  booktitle = {World Wide Web (WWW)}, year = {2015}
}
@article{newman2009,
  title = {Distributed Algorithms for Topic Models},
  author = {Newman, David and Asuncion, Arthur and Smyth, Padhraic and Welling, Max},
  journal = {Journal of Machine Learning Research}, volume = {10}, year = {2009}
}
@article{jacobs1991,
  title = {Adaptive Mixtures of Local Experts},
  author = {Jacobs, Robert A. and Jordan, Michael I. and Nowlan, Steven J. and Hinton, Geoffrey E.},
  journal = {Neural Computation}, volume = {3}, number = {1}, year = {1991}
}
@article{lange1989,
  title = {Robust Statistical Modeling Using the $t$ Distribution},
  author = {Lange, Kenneth L. and Little, Roderick J. A. and Taylor, Jeremy M. G.},
  journal = {Journal of the American Statistical Association}, volume = {84}, year = {1989}
}
@article{geweke1993,
  title = {{Bayesian} Treatment of the Independent {Student-t} Linear Model},
  author = {Geweke, John},
  journal = {Journal of Applied Econometrics}, volume = {8}, year = {1993}
}
@article{polson2011,
  title = {Data Augmentation for Support Vector Machines},
  author = {Polson, Nicholas G. and Scott, Steven L.},
  journal = {Bayesian Analysis}, volume = {6}, number = {1}, year = {2011}
}
@article{polson2013,
  title = {{Bayesian} Inference for Logistic Models Using {P{\'o}lya-Gamma} Latent Variables},
  author = {Polson, Nicholas G. and Scott, James G. and Windle, Jesse},
  journal = {Journal of the American Statistical Association}, volume = {108}, year = {2013}
}
@article{carvalho2010,
  title = {The Horseshoe Estimator for Sparse Signals},
  author = {Carvalho, Carlos M. and Polson, Nicholas G. and Scott, James G.},
  journal = {Biometrika}, volume = {97}, number = {2}, year = {2010}
}
@article{gelman2006,
  title = {Prior Distributions for Variance Parameters in Hierarchical Models},
  author = {Gelman, Andrew},
  journal = {Bayesian Analysis}, volume = {1}, number = {3}, year = {2006}
}
@article{makalic2016,
  title = {A Simple Sampler for the Horseshoe Estimator},
  author = {Makalic, Enes and Schmidt, Daniel F.},
  journal = {IEEE Signal Processing Letters}, volume = {23}, number = {1}, year = {2016}
}
@article{yu2011,
  title = {To Center or Not to Center: That Is Not the Question. An Ancillarity-Sufficiency Interweaving
           Strategy ({ASIS}) for Boosting {MCMC} Efficiency},
  author = {Yu, Yaming and Meng, Xiao-Li},
  journal = {Journal of Computational and Graphical Statistics}, volume = {20}, number = {3}, year = {2011}
}
@inproceedings{johndrow2013,
  title = {Diagonal Orthant Multinomial Probit Models},
  author = {Johndrow, James and Dunson, David and Lum, Kristian},
  booktitle = {Artificial Intelligence and Statistics (AISTATS)}, year = {2013}
}
@article{neal2003,
  title = {Slice Sampling},
  author = {Neal, Radford M.},
  journal = {Annals of Statistics}, volume = {31}, number = {3}, year = {2003}
}
@techreport{minka2000,
  title = {Estimating a {Dirichlet} Distribution},
  author = {Minka, Thomas P.},
  institution = {Massachusetts Institute of Technology}, year = {2000}
}
@inproceedings{wallach2009,
  title = {Evaluation Methods for Topic Models},
  author = {Wallach, Hanna M. and Murray, Iain and Salakhutdinov, Ruslan and Mimno, David},
  booktitle = {International Conference on Machine Learning (ICML)}, year = {2009}
}
@inproceedings{mimno2011,
  title = {Optimizing Semantic Coherence in Topic Models},
  author = {Mimno, David and Wallach, Hanna and Talley, Edmund and Leenders, Miriam and McCallum, Andrew},
  booktitle = {Empirical Methods in Natural Language Processing (EMNLP)}, year = {2011}
}
"""


#: Topics as a variable of the chain, whatever the kernel.
PARTIAL = SimpleNamespace(references=("magnusson2018",))


def table() -> dict[str, str]:
    """BibTeX entries by key."""
    entries = [entry.strip() for entry in re.split(r"\n(?=@)", BIBTEX) if entry.strip()]
    return {key_of(entry): entry for entry in entries}


def key_of(entry: str) -> str:
    """The key of a BibTeX entry.

    Raises
    ------
    ValueError
        Text that is none.
    """
    found = re.match(r"@\w+\{\s*([^,\s]+)\s*,", entry)
    if not found:
        raise ValueError(
            f"references must be keys of plugsamp.references or BibTeX entries, not {entry[:40]!r}"
        )
    return found[1]


def itself() -> str:
    """The entry of this package, in the version that is installed."""
    number = version("plugsamp")
    return (
        "@software{plugsamp,\n  title = {plugsamp: Sampling Supervised Topic Models},\n"
        f"  version = {{{number}}}\n}}"
    )


def entries_of(parts: Iterable) -> list[str]:
    """BibTeX entries of what a run is made of, each once, in the order of the parts.

    Parameters
    ----------
    parts : iterable
        Losses, priors, kernels, proposals, ... : their attribute ``references`` holds keys of `table`, or
        entries of their authors' own.
    """
    known = table()
    found: dict[str, str] = {}
    for part in parts:
        for reference in getattr(part, "references", ()):
            entry = known.get(reference, reference).strip()
            found.setdefault(key_of(entry), entry)
    return list(found.values())


def parts_of(model, kernel) -> list:
    """What a chain of a model and a kernel is made of, as far as there is something to cite."""
    parts = [model, model.loss, model.weights, model.topics, model.learn_alpha, model.learn_beta, kernel]
    return [*parts, PARTIAL] if kernel.partial else parts


def as_text(entry: str) -> str:
    """An entry as a line of a bibliography."""
    # values may hold braces one deep
    fields = dict(re.findall(r"(\w+) = \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", entry))
    plain = {name: " ".join(_plain(value).split()) for name, value in fields.items()}
    people = [" ".join(reversed(p.split(", ", 1))) for p in plain.get("author", "").split(" and ") if p]
    where = next((plain[k] for k in ("journal", "booktitle", "institution") if k in plain), "")
    where += f" {plain.get('volume', '')}".rstrip() + (f"({plain['number']})" if "number" in plain else "")
    parts = [", ".join(people), plain.get("title", key_of(entry)), where.strip(), plain.get("year", "")]
    parts += [f"version {plain['version']}"] if "version" in plain else []
    return ". ".join(p for p in parts[:2] if p) + "".join(f", {p}" for p in parts[2:] if p) + "."


def _plain(text: str) -> str:
    for code, letter in ((r"{\aa}", "å"), (r"{\'o}", "ó")):
        text = text.replace(code, letter)
    return text.replace("{", "").replace("}", "")
