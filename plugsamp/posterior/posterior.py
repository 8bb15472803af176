"""What a fit leaves: topics, weights, predictions, trace, and what they say of documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plugsamp.checks import n_jobs_of
from plugsamp.corpus import Corpus
from plugsamp.files.tables import Table
from plugsamp.posterior import tabulate
from plugsamp.posterior.base import Parts
from plugsamp.prediction.combine import predict
from plugsamp.prediction.results import Prediction
from plugsamp.system import cores

#: Words of a topic in a table, characters of a line.
WORDS, WIDTH = 10, 100

#: The probability inside intervals.
LEVEL = 0.9


class Posterior(Parts):
    """The kept draws of a model, of one chain or several, and everything that can be read from them.

    `plugsamp.fit` returns one; `plugsamp.load` reads one from a model folder, a zip file or a run folder.

    Its constructor takes what `plugsamp.posterior.base.Parts` takes.

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> counts = np.repeat([[4, 2, 0, 0], [0, 0, 3, 3]], 10, axis=0)
    >>> words = ["orbit", "rocket", "bread", "butter"]
    >>> corpus = ps.Corpus.from_counts(counts, responses=["space"] * 10 + ["food"] * 10, vocabulary=words)
    >>> posterior = ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=40)
    >>> sorted(posterior.topics(words=2)["speaks_for"])
    ['food', 'space']
    >>> posterior.evaluate(corpus).main
    1.0
    """

    # -- tables --------------------------------------------------------------------------------------

    def topics(self, words: int = WORDS, by: str = "relevance", *, part=None, level: float = LEVEL) -> Table:
        """Return the topics, the largest first.

        Parameters
        ----------
        words : int
            Words of each topic.
        by : {"relevance", "probability", "frex"}
            How words are ranked (`plugsamp.posterior.rankings`).
        part : int or str, optional
            Which chain or binary model, by number from 0 or by name, or "all". By default all binary models;
            of several chains the first, since topics of two chains have no common numbers.
        level : float
            The probability inside the intervals of weights.

        Returns
        -------
        Table
            ``topic``, ``name`` where topics have names, ``share`` of the tokens after the last sweep,
            ``speaks_for`` (the class or response with the largest weight; if all classes have negative
            weights, the one with the most negative), its ``weight`` with ``lower`` and
            ``upper`` ends, ``npmi`` (`plugsamp.posterior.quality`) and ``words``. Columns that are not known,
            such as the share in a model that was saved alone, are left out.
        """
        return tabulate.topics(self, self._chosen(part, first=True), words, by, level)

    def weights(self, output: str | None = None, *, part=None, level: float = LEVEL) -> Table:
        """Return the weights of every output: mean and interval over kept draws.

        Parameters
        ----------
        output : str, optional
            A class, label or response. Only its weights are shown, the largest first.
        part : int or str, optional
            As in `topics`.
        level : float

        Returns
        -------
        Table
            ``output``, ``column`` (topic, covariate or intercept), ``mean``, ``lower``, ``upper``.

        Raises
        ------
        ValueError
            The model has no responses, or no such output.
        """
        return tabulate.weights(self, self._chosen(part, first=True), level, output)

    def variances(self, *, part=None, level: float = LEVEL) -> Table:
        """Return the variances of the weights that a hierarchical prior has drawn: mean and interval.

        Parameters
        ----------
        part, level
            As in `topics`.

        Returns
        -------
        Table
            ``group`` (topics or covariates), ``output`` ("all" if shared), ``mean``, ``lower``, ``upper``.
        """
        return tabulate.variances(self, self._chosen(part, first=True), level)

    def documents(self, topic=None, corpus: Corpus | None = None, n: int = 10, *, part=None) -> Table:
        """Return the documents that have most of a topic; without one, the main topics of every document.

        Parameters
        ----------
        topic : int or str, optional
            Its number, or its name.
        corpus : Corpus, optional
            By default the training documents.
        n : int
            Documents of a topic.
        part : int or str, optional
            As in `topics`.

        Returns
        -------
        Table
            Of a topic ``id``, ``share``, ``response``, ``words`` (those of the document that are most the
            topic's). Otherwise a row a document, in their order: ``id``, ``response``, ``topic``, ``share``,
            ``second``, ``second_share``, ``n_known``.
        """
        corpus = self._documents(corpus)
        if topic is not None:
            return tabulate.documents_of_topic(self, *self._part_of(topic, part), corpus, n)
        return tabulate.documents(self, self._one(part), corpus)

    def convergence(self) -> Table:
        """Return R-hat and effective draws of the log joint, its parts and the loss, after the burn-in.

        Returns
        -------
        Table
            ``quantity``, ``mean``, ``sd``, ``r_hat``, ``ess``, ``inefficiency``, and "not yet" beside an
            R-hat above 1.05. One chain is compared with itself, its halves as two.

        Raises
        ------
        ValueError
            There is no trace, or fewer than four sweeps after the burn-in.
        ImportError
            arviz-stats is not installed.
        """
        return tabulate.mixing(self)

    @property
    def evaluations(self) -> dict:
        """What `evaluate` has found last, by "train", "validation" and, of all others, "test"."""
        return dict(self._evaluated)

    # -- documents -----------------------------------------------------------------------------------

    def predict(
        self, corpus: Corpus | None = None, *, n_jobs: int | None = None, keep: bool = True
    ) -> Prediction:
        """Predict documents, by default the training documents.

        A document's result depends on the model, the seed and the document alone: not on the others
        predicted with it, its place among them, or the order of its words.

        Parameters
        ----------
        corpus : Corpus or sequence of str, optional
            Texts are divided into words as `Corpus.from_frame` does by default. If the training texts were
            read with other options, read the new ones with the same.
        n_jobs : int, optional
            Threads that predict, as joblib counts. No number depends on it.
        keep : bool
            Keep the predictions, of the last two corpora, for methods that need them again.

        Returns
        -------
        Prediction
            See `plugsamp.prediction.combine.predict` for several parts.

        Raises
        ------
        ValueError
            Where the model has covariates and the corpus not the same ones, nor the columns of which they
            are made.
        """
        corpus = self._documents(corpus)
        found = self._predicted.get(id(corpus))
        if found is None or found[0] is not corpus:
            with cores.threads(n_jobs_of(n_jobs)):
                found = (corpus, predict(self.parts, self.combine, self.coding, corpus))
            while keep and len(self._predicted) > 1:
                self._predicted.pop(next(iter(self._predicted)))
            if keep:
                self._predicted[id(corpus)] = found
        return self._named(found[1])

    def kept_prediction(self, corpus: Corpus) -> Prediction | None:
        """Return the prediction of a corpus that `predict` has kept, or None."""
        found = self._predicted.get(id(corpus))
        return self._named(found[1]) if found is not None and found[0] is corpus else None

    def _named(self, prediction: Prediction) -> Prediction:
        keys = (part.key(k) for part in self.parts for k in range(part.n_topics))
        names = tuple(self._names.get(key, "") for key in keys) if self._names else ()
        return replace(prediction, topic_names=names) if names else prediction

    def predict_iter(self, documents, *, batch: int | None = None, n_jobs: int | None = None):
        """Predict documents in batches; see `plugsamp.prediction.stream.predict_iter`."""
        from plugsamp.prediction.stream import BATCH, predict_iter

        return predict_iter(self, documents, batch=BATCH if batch is None else batch, n_jobs=n_jobs)

    def evaluate(self, corpus: Corpus | None = None, held_out: bool | None = None):
        """Compare predictions with responses.

        Parameters
        ----------
        corpus : Corpus, optional
            By default the held-out documents of a run folder, or else the training documents.
        held_out : bool, optional
            Whether the documents are new; by default those are that are not the training documents. Of a
            model without responses the words of new documents are scored.

        Returns
        -------
        plugsamp.prediction.evaluation.Evaluation
            ``measures``, ``by_class()``, ``confusion()``, ``prediction``.
        """
        from plugsamp.prediction.evaluation import evaluate

        corpus = self._documents(self.test if corpus is None and self.test is not None else corpus)
        held_out = corpus is not self.corpus if held_out is None else held_out
        found = evaluate(self, corpus, held_out, self.predict(corpus))
        known = {id(self.corpus): "train", id(self.validation): "validation"}
        self._evaluated[known.get(id(corpus), "test")] = found
        return found

    def explain(self, corpus: Corpus | None = None, documents=None) -> Table:
        """Return why documents were predicted so: f as a sum of share times weight.

        Parameters
        ----------
        corpus : Corpus, optional
            By default the training documents.
        documents : str, int, or sequence of them, optional
            Ids (text) or row numbers from 0 (integers). By default the first five mistakes, or the first
            five documents where there are none.

        Returns
        -------
        Table
            ``id``, ``true``, ``predicted``, ``output`` (of several classes the predicted one and another),
            ``term`` (a topic, covariate or intercept; last the sum), ``share`` (of a covariate its value),
            ``f`` (share times weight), ``words``. Without responses the topics of the documents alone.
        """
        return tabulate.explanation(self, self._documents(corpus), documents)

    def effects(self, fields, corpus: Corpus | None = None, topics=None, *, part=None, **options) -> Table:
        """Return how the prevalence of topics differs by fields of the documents.

        Parameters
        ----------
        fields : str or list of str
            A field of the corpus, several, or a formula.
        corpus : Corpus, optional
            By default the training documents.
        topics : sequence of int, optional
        part : int or str, optional
            As in `topics`.
        options
            ``draws`` and ``level``, of `plugsamp.posterior.effects.effects`.
        """
        from plugsamp.posterior.effects import effects

        shown = self._one(part)
        numbers = (
            range(shown.n_topics) if topics is None else [self._part_of(k, shown.number)[1] for k in topics]
        )
        labels = tabulate.topic_labels(self, shown)
        labels = [labels[k] for k in numbers]
        return effects(
            shown, fields, self._documents(corpus), list(numbers), labels=labels, **options
        )

    # -- elsewhere -----------------------------------------------------------------------------------

    def plot(self, kind: str = "topics", *, ax=None, **options):
        """Draw a figure; returns the matplotlib Axes. See `plugsamp.posterior.figures.plot`."""
        from plugsamp.posterior.figures import plot

        return plot(self, kind, ax, **options)

    def to_pyldavis(self, corpus: Corpus | None = None, *, part=None) -> dict:
        """Return the arguments of ``pyLDAvis.prepare``; see `plugsamp.posterior.viewers.pyldavis_data`.

        Parameters
        ----------
        corpus : Corpus, optional
            By default the training documents.
        part : int or str, optional
            As in `topics`.
        """
        from plugsamp.posterior.viewers import pyldavis_data, shown

        return pyldavis_data(*shown(self, self._documents(corpus), part))

    def topicwizard(self, corpus: Corpus | None = None, texts=None, *, part=None) -> dict:
        """Return the `TopicData` of topicwizard; see `plugsamp.posterior.viewers.topicwizard_data`.

        Parameters
        ----------
        corpus : Corpus, optional
            By default the training documents.
        texts : sequence of str, optional
            The documents to read; by default their words.
        part : int or str, optional
            As in `topics`.
        """
        from plugsamp.posterior.viewers import shown, topicwizard_data

        one = self._one(part)
        names = tabulate.topic_labels(self, one)
        return topicwizard_data(*shown(self, self._documents(corpus), part), names, texts)

    def to_arviz(self, **options):
        """Return the chains for ArviZ; see `plugsamp.exchange.to_arviz`."""
        from plugsamp.exchange import to_arviz

        return to_arviz(self, **options)

    def report(
        self, file=None, *, train: Corpus | None = None, test: Corpus | None = None, documents=(), texts=None
    ):
        """Write the report, one HTML file that needs nothing else; without a file, return the page.

        A notebook shows the page that is returned.

        Parameters
        ----------
        file : path-like, optional
            It is replaced if it is there.
        train, test : Corpus, optional
            By default those that the posterior knows.
        documents : sequence of str
            Ids of documents to explain; by default some are chosen, mistakes first.
        texts : mapping of str to str, or function, optional
            What documents say, by their ids; a function takes ids and returns such a mapping. Without it the
            page shows the text in a field of the corpus (``fields=["text"]``), if there is one, or the words.
            The texts of a run folder that was loaded with its corpus are read again.
        """
        from plugsamp.posterior.views import view

        texts = self.texts if texts is None and train is None and test is None else texts
        return view("report")(self, file, train or self.corpus, test or self.test, documents, texts)

    def save(self, path, overwrite: bool = False) -> Path:
        """Write the posterior with its trace and names; `plugsamp.load` reads it again.

        Parameters
        ----------
        path : path-like
            A folder; or with the suffix ``.zip`` one file with what prediction needs, and the names.
        overwrite : bool
            Replace what is there.
        """
        from plugsamp.posterior.saved import save

        return save(self, path, overwrite)

    # -- as it is shown ------------------------------------------------------------------------------

    def heading(self) -> list[str]:
        """Return two lines: the model and its data, the chains."""
        from plugsamp.posterior.summary import heading

        return heading(self)

    def summary(self, words: int = 8, width: int = WIDTH) -> str:
        """Return what the command prints at the end: measures that were computed, mixing, speed, topics."""
        from plugsamp.posterior.summary import summary

        return summary(self, words, width)

    def __repr__(self) -> str:
        from plugsamp.posterior.summary import short

        return short(self)

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<p>{escape(text)}</p>" for text in self.heading())
        return f"{head}{self.topics()._repr_html_()}"
