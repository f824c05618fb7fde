"""Learning changes in for good: from the vectors of a reckoner that learned the graph before them."""

from __future__ import annotations

import torch

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.learning import LearnedParts, learn_reckoner
from kgreckon.models.reckoner.links import Labels, LinkTraining
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.run_files import LAST, RunFiles


def continue_reckoner(
    before: RunFiles,
    learned_from: KnowledgeGraph,
    files: RunFiles,
    graph: KnowledgeGraph,
    stated_share: float,
    settings: ReckonerSettings,
    device: torch.device,
    progress: TrainingProgress,
) -> None:
    """Learn a graph into a folder, beginning with what a run learned from the graph before some changes.

    A quarter of the epochs is taken again. Rules and attributes are learned anew, and the calibration is kept.
    """
    learned = LearnedParts.read(before, learned_from, stated_share, settings, device)
    newcomers = learned.newcomers.over(graph)
    scorer = newcomers.scorer.with_vectors(newcomers.scorer.nodes.clone(), newcomers.scorer.labels.clone())
    scorer.requires_grad_(True)
    # What Adagrad has seen of each weight is not kept in a run; a pass that moves nothing says how large gradients are.
    labels = Labels.of(graph)
    training = LinkTraining(
        scorer,
        labels.examples(graph, device),
        settings.batch_size,
        0.0,
        settings.regularisation,
        settings.label_weight,
        settings.seed,
        settings.sampled_tails(labels.num_nodes, device.type),
    )
    training.epoch(0)
    done = settings.epochs - max(1, settings.epochs // 4)
    tensors = {f"scorer.{name}": tensor for name, tensor in scorer.state_dict().items()}
    tensors |= {f"squares.{place}": done * tensor for place, tensor in enumerate(training.squares)}
    files.save(LAST, tensors | {"epochs": torch.tensor(done)})
    nothing = HeldBack.nothing(graph, stated_share)
    learn_reckoner(files, graph, nothing, settings, device, progress, calibration=learned.calibration)
