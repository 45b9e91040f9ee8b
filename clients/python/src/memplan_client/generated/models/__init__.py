"""Contains all the data models used in inputs/outputs"""

from .adapters_section import AdaptersSection
from .adapters_section_dtype_type_0 import AdaptersSectionDtypeType0
from .adapters_section_modules_item import AdaptersSectionModulesItem
from .adapters_section_quantization_type_0 import AdaptersSectionQuantizationType0
from .adapters_section_trained_modules_type_0_item import (
    AdaptersSectionTrainedModulesType0Item,
)
from .adapters_section_type import AdaptersSectionType
from .alternative_answer import AlternativeAnswer
from .alternative_answer_changes import AlternativeAnswerChanges
from .batch_section import BatchSection
from .bf_16_layers import Bf16Layers
from .broken_rule_answer import BrokenRuleAnswer
from .buckets import Buckets
from .calibration_answer import CalibrationAnswer
from .calibration_list import CalibrationList
from .candidate import Candidate
from .candidate_peak import CandidatePeak
from .capacity import Capacity
from .categories import Categories
from .cell_answer import CellAnswer
from .checkpointing_limit import CheckpointingLimit
from .checkpointing_limit_granularity import CheckpointingLimitGranularity
from .checkpointing_limit_method_type_0 import CheckpointingLimitMethodType0
from .checkpointing_section import CheckpointingSection
from .checkpointing_section_granularity_type_0 import (
    CheckpointingSectionGranularityType0,
)
from .checkpointing_section_method_type_0 import CheckpointingSectionMethodType0
from .checkpointing_section_offload_type_0 import CheckpointingSectionOffloadType0
from .cluster_request import ClusterRequest
from .comparison_answer import ComparisonAnswer
from .comparison_list import ComparisonList
from .comparison_request import ComparisonRequest
from .comparison_summary import ComparisonSummary
from .config_source import ConfigSource
from .config_source_env import ConfigSourceEnv
from .config_source_files import ConfigSourceFiles
from .config_source_format import ConfigSourceFormat
from .day_counts import DayCounts
from .device_answer import DeviceAnswer
from .device_answer_peak_flops import DeviceAnswerPeakFlops
from .device_list import DeviceList
from .device_request import DeviceRequest
from .device_request_peak_flops_type_0 import DeviceRequestPeakFlopsType0
from .diagnostic_answer import DiagnosticAnswer
from .diagnostic_answer_severity import DiagnosticAnswerSeverity
from .difference_answer import DifferenceAnswer
from .drift_answer import DriftAnswer
from .dropout_section import DropoutSection
from .estimate_answer import EstimateAnswer
from .estimate_answer_sources import EstimateAnswerSources
from .estimate_answer_verdict import EstimateAnswerVerdict
from .evidence_answer import EvidenceAnswer
from .evidence_answers import EvidenceAnswers
from .export_plan_format import ExportPlanFormat
from .factors_answer import FactorsAnswer
from .fault import Fault
from .fault_location import FaultLocation
from .fits_answer import FitsAnswer
from .fp_8_section import Fp8Section
from .fp_8_section_backend_type_0 import Fp8SectionBackendType0
from .fp_8_section_recipe_type_0 import Fp8SectionRecipeType0
from .framework_section import FrameworkSection
from .framework_section_name import FrameworkSectionName
from .framework_section_transformer_impl_type_0 import (
    FrameworkSectionTransformerImplType0,
)
from .frontier_point import FrontierPoint
from .given_answer import GivenAnswer
from .import_answer import ImportAnswer
from .import_answer_outcome import ImportAnswerOutcome
from .import_answer_sources import ImportAnswerSources
from .import_request import ImportRequest
from .interval_answer import IntervalAnswer
from .item_error import ItemError
from .job import Job
from .job_estimate_request import JobEstimateRequest
from .job_item_request import JobItemRequest
from .job_observation_request import JobObservationRequest
from .job_plan_request import JobPlanRequest
from .job_plan_request_labels import JobPlanRequestLabels
from .job_schedule_type_0 import JobScheduleType0
from .keep_request import KeepRequest
from .kernels_section import KernelsSection
from .kernels_section_activation_type_0 import KernelsSectionActivationType0
from .kernels_section_attention_type_0 import KernelsSectionAttentionType0
from .kernels_section_cross_entropy_type_0 import KernelsSectionCrossEntropyType0
from .kernels_section_experts_type_0 import KernelsSectionExpertsType0
from .kernels_section_linear_attention_type_0 import KernelsSectionLinearAttentionType0
from .kernels_section_moe_dispatcher_type_0 import KernelsSectionMoeDispatcherType0
from .kernels_section_norm_type_0 import KernelsSectionNormType0
from .kernels_section_rope_type_0 import KernelsSectionRopeType0
from .labelled_job_request import LabelledJobRequest
from .labelled_source_request import LabelledSourceRequest
from .labels_answer import LabelsAnswer
from .labels_request import LabelsRequest
from .layout_answer import LayoutAnswer
from .layout_answer_optimizer_offload_type_1 import LayoutAnswerOptimizerOffloadType1
from .layout_answer_stages_type_0 import LayoutAnswerStagesType0
from .least_recomputation_answer import LeastRecomputationAnswer
from .ledger_line import LedgerLine
from .list_plans_verdict import ListPlansVerdict
from .liveness import Liveness
from .measured_answer import MeasuredAnswer
from .measured_request import MeasuredRequest
from .measured_request_source import MeasuredRequestSource
from .method import Method
from .missing import Missing
from .model_answer import ModelAnswer
from .model_list import ModelList
from .model_section import ModelSection
from .model_section_mlp_type_0 import ModelSectionMlpType0
from .model_section_normalization_type_0 import ModelSectionNormalizationType0
from .model_section_norms_per_layer_type_0 import ModelSectionNormsPerLayerType0
from .model_section_position_embedding_type_0 import ModelSectionPositionEmbeddingType0
from .model_section_qk_norm_type_0 import ModelSectionQkNormType0
from .moe_section import MoeSection
from .observation_answer import ObservationAnswer
from .observation_list import ObservationList
from .observation_summary import ObservationSummary
from .observations_answer import ObservationsAnswer
from .observed_runs import ObservedRuns
from .offload_fraction import OffloadFraction
from .operation_answer import OperationAnswer
from .operation_error import OperationError
from .operation_progress import OperationProgress
from .optimizer_section import OptimizerSection
from .optimizer_section_implementation_type_0 import OptimizerSectionImplementationType0
from .optimizer_section_moments_type_0_item import OptimizerSectionMomentsType0Item
from .optimizer_section_name_type_0 import OptimizerSectionNameType0
from .optimizer_section_offload_type_0 import OptimizerSectionOffloadType0
from .optimizer_section_parameter_offload_type_0 import (
    OptimizerSectionParameterOffloadType0,
)
from .parallelism_section import ParallelismSection
from .parallelism_section_context_method_type_0 import (
    ParallelismSectionContextMethodType0,
)
from .peak import Peak
from .plan_answer import PlanAnswer
from .plan_answer_labels import PlanAnswerLabels
from .plan_answer_rejected import PlanAnswerRejected
from .plan_list import PlanList
from .plan_observation_request import PlanObservationRequest
from .plan_summary import PlanSummary
from .plan_summary_labels import PlanSummaryLabels
from .policy_answer import PolicyAnswer
from .policy_list import PolicyList
from .policy_request import PolicyRequest
from .policy_request_mode import PolicyRequestMode
from .policy_request_tight import PolicyRequestTight
from .policy_request_unknown import PolicyRequestUnknown
from .policy_summary import PolicySummary
from .policy_summary_rules import PolicySummaryRules
from .precision_section import PrecisionSection
from .precision_section_compute_type_0 import PrecisionSectionComputeType0
from .precision_section_gradients_type_0 import PrecisionSectionGradientsType0
from .precision_section_master_type_0 import PrecisionSectionMasterType0
from .precision_section_parameters_type_0 import PrecisionSectionParametersType0
from .precision_section_reduce_type_0 import PrecisionSectionReduceType0
from .predicted_answer import PredictedAnswer
from .problem import Problem
from .ratios_answer import RatiosAnswer
from .readiness import Readiness
from .refusal_answer import RefusalAnswer
from .refusal_list import RefusalList
from .ruling_answer import RulingAnswer
from .ruling_counts import RulingCounts
from .scope import Scope
from .search_request import SearchRequest
from .search_request_checkpointing_type_0_item_type_0 import (
    SearchRequestCheckpointingType0ItemType0,
)
from .search_request_checkpointing_type_1 import SearchRequestCheckpointingType1
from .search_request_context_type_1 import SearchRequestContextType1
from .search_request_cross_entropy_type_0_item import SearchRequestCrossEntropyType0Item
from .search_request_cross_entropy_type_1 import SearchRequestCrossEntropyType1
from .search_request_data_type_1 import SearchRequestDataType1
from .search_request_expert_tensor_type_1 import SearchRequestExpertTensorType1
from .search_request_expert_type_1 import SearchRequestExpertType1
from .search_request_micro_type_1 import SearchRequestMicroType1
from .search_request_microbatch_group_size_type_1 import (
    SearchRequestMicrobatchGroupSizeType1,
)
from .search_request_optimizer_offload_type_0_item_type_0 import (
    SearchRequestOptimizerOffloadType0ItemType0,
)
from .search_request_optimizer_offload_type_1 import SearchRequestOptimizerOffloadType1
from .search_request_pipeline_type_1 import SearchRequestPipelineType1
from .search_request_schedule_type_0_item import SearchRequestScheduleType0Item
from .search_request_schedule_type_1 import SearchRequestScheduleType1
from .search_request_sequence_type_1 import SearchRequestSequenceType1
from .search_request_sharding_degree_type_1 import SearchRequestShardingDegreeType1
from .search_request_sharding_stage_type_1 import SearchRequestShardingStageType1
from .search_request_stages_type_0_item import SearchRequestStagesType0Item
from .search_request_stages_type_1 import SearchRequestStagesType1
from .search_request_tensor_type_1 import SearchRequestTensorType1
from .search_request_virtual_pipeline_type_1 import SearchRequestVirtualPipelineType1
from .sharding_section import ShardingSection
from .sharding_section_implementation_type_0 import ShardingSectionImplementationType0
from .sharding_section_reshard_after_forward_type_0 import (
    ShardingSectionReshardAfterForwardType0,
)
from .slice_request import SliceRequest
from .slice_request_kind import SliceRequestKind
from .source_answer import SourceAnswer
from .source_answer_from import SourceAnswerFrom
from .source_estimate_request import SourceEstimateRequest
from .source_item_request import SourceItemRequest
from .source_observation_request import SourceObservationRequest
from .source_plan_request import SourcePlanRequest
from .source_plan_request_labels import SourcePlanRequestLabels
from .stage import Stage
from .stage_moments import StageMoments
from .stage_peak import StagePeak
from .stages_section import StagesSection
from .step_time_answer import StepTimeAnswer
from .swap_section import SwapSection
from .target_request import TargetRequest
from .time import Time
from .value_answer import ValueAnswer
from .verdict_list import VerdictList
from .verdict_method import VerdictMethod
from .verdict_request import VerdictRequest
from .verdict_result import VerdictResult
from .winner_answer import WinnerAnswer
from .winners_answer import WinnersAnswer
from .without_observations import WithoutObservations

__all__ = (
    "AdaptersSection",
    "AdaptersSectionDtypeType0",
    "AdaptersSectionModulesItem",
    "AdaptersSectionQuantizationType0",
    "AdaptersSectionTrainedModulesType0Item",
    "AdaptersSectionType",
    "AlternativeAnswer",
    "AlternativeAnswerChanges",
    "BatchSection",
    "Bf16Layers",
    "BrokenRuleAnswer",
    "Buckets",
    "CalibrationAnswer",
    "CalibrationList",
    "Candidate",
    "CandidatePeak",
    "Capacity",
    "Categories",
    "CellAnswer",
    "CheckpointingLimit",
    "CheckpointingLimitGranularity",
    "CheckpointingLimitMethodType0",
    "CheckpointingSection",
    "CheckpointingSectionGranularityType0",
    "CheckpointingSectionMethodType0",
    "CheckpointingSectionOffloadType0",
    "ClusterRequest",
    "ComparisonAnswer",
    "ComparisonList",
    "ComparisonRequest",
    "ComparisonSummary",
    "ConfigSource",
    "ConfigSourceEnv",
    "ConfigSourceFiles",
    "ConfigSourceFormat",
    "DayCounts",
    "DeviceAnswer",
    "DeviceAnswerPeakFlops",
    "DeviceList",
    "DeviceRequest",
    "DeviceRequestPeakFlopsType0",
    "DiagnosticAnswer",
    "DiagnosticAnswerSeverity",
    "DifferenceAnswer",
    "DriftAnswer",
    "DropoutSection",
    "EstimateAnswer",
    "EstimateAnswerSources",
    "EstimateAnswerVerdict",
    "EvidenceAnswer",
    "EvidenceAnswers",
    "ExportPlanFormat",
    "FactorsAnswer",
    "Fault",
    "FaultLocation",
    "FitsAnswer",
    "Fp8Section",
    "Fp8SectionBackendType0",
    "Fp8SectionRecipeType0",
    "FrameworkSection",
    "FrameworkSectionName",
    "FrameworkSectionTransformerImplType0",
    "FrontierPoint",
    "GivenAnswer",
    "ImportAnswer",
    "ImportAnswerOutcome",
    "ImportAnswerSources",
    "ImportRequest",
    "IntervalAnswer",
    "ItemError",
    "Job",
    "JobEstimateRequest",
    "JobItemRequest",
    "JobObservationRequest",
    "JobPlanRequest",
    "JobPlanRequestLabels",
    "JobScheduleType0",
    "KeepRequest",
    "KernelsSection",
    "KernelsSectionActivationType0",
    "KernelsSectionAttentionType0",
    "KernelsSectionCrossEntropyType0",
    "KernelsSectionExpertsType0",
    "KernelsSectionLinearAttentionType0",
    "KernelsSectionMoeDispatcherType0",
    "KernelsSectionNormType0",
    "KernelsSectionRopeType0",
    "LabelledJobRequest",
    "LabelledSourceRequest",
    "LabelsAnswer",
    "LabelsRequest",
    "LayoutAnswer",
    "LayoutAnswerOptimizerOffloadType1",
    "LayoutAnswerStagesType0",
    "LeastRecomputationAnswer",
    "LedgerLine",
    "ListPlansVerdict",
    "Liveness",
    "MeasuredAnswer",
    "MeasuredRequest",
    "MeasuredRequestSource",
    "Method",
    "Missing",
    "ModelAnswer",
    "ModelList",
    "ModelSection",
    "ModelSectionMlpType0",
    "ModelSectionNormalizationType0",
    "ModelSectionNormsPerLayerType0",
    "ModelSectionPositionEmbeddingType0",
    "ModelSectionQkNormType0",
    "MoeSection",
    "ObservationAnswer",
    "ObservationList",
    "ObservationsAnswer",
    "ObservationSummary",
    "ObservedRuns",
    "OffloadFraction",
    "OperationAnswer",
    "OperationError",
    "OperationProgress",
    "OptimizerSection",
    "OptimizerSectionImplementationType0",
    "OptimizerSectionMomentsType0Item",
    "OptimizerSectionNameType0",
    "OptimizerSectionOffloadType0",
    "OptimizerSectionParameterOffloadType0",
    "ParallelismSection",
    "ParallelismSectionContextMethodType0",
    "Peak",
    "PlanAnswer",
    "PlanAnswerLabels",
    "PlanAnswerRejected",
    "PlanList",
    "PlanObservationRequest",
    "PlanSummary",
    "PlanSummaryLabels",
    "PolicyAnswer",
    "PolicyList",
    "PolicyRequest",
    "PolicyRequestMode",
    "PolicyRequestTight",
    "PolicyRequestUnknown",
    "PolicySummary",
    "PolicySummaryRules",
    "PrecisionSection",
    "PrecisionSectionComputeType0",
    "PrecisionSectionGradientsType0",
    "PrecisionSectionMasterType0",
    "PrecisionSectionParametersType0",
    "PrecisionSectionReduceType0",
    "PredictedAnswer",
    "Problem",
    "RatiosAnswer",
    "Readiness",
    "RefusalAnswer",
    "RefusalList",
    "RulingAnswer",
    "RulingCounts",
    "Scope",
    "SearchRequest",
    "SearchRequestCheckpointingType0ItemType0",
    "SearchRequestCheckpointingType1",
    "SearchRequestContextType1",
    "SearchRequestCrossEntropyType0Item",
    "SearchRequestCrossEntropyType1",
    "SearchRequestDataType1",
    "SearchRequestExpertTensorType1",
    "SearchRequestExpertType1",
    "SearchRequestMicrobatchGroupSizeType1",
    "SearchRequestMicroType1",
    "SearchRequestOptimizerOffloadType0ItemType0",
    "SearchRequestOptimizerOffloadType1",
    "SearchRequestPipelineType1",
    "SearchRequestScheduleType0Item",
    "SearchRequestScheduleType1",
    "SearchRequestSequenceType1",
    "SearchRequestShardingDegreeType1",
    "SearchRequestShardingStageType1",
    "SearchRequestStagesType0Item",
    "SearchRequestStagesType1",
    "SearchRequestTensorType1",
    "SearchRequestVirtualPipelineType1",
    "ShardingSection",
    "ShardingSectionImplementationType0",
    "ShardingSectionReshardAfterForwardType0",
    "SliceRequest",
    "SliceRequestKind",
    "SourceAnswer",
    "SourceAnswerFrom",
    "SourceEstimateRequest",
    "SourceItemRequest",
    "SourceObservationRequest",
    "SourcePlanRequest",
    "SourcePlanRequestLabels",
    "Stage",
    "StageMoments",
    "StagePeak",
    "StagesSection",
    "StepTimeAnswer",
    "SwapSection",
    "TargetRequest",
    "Time",
    "ValueAnswer",
    "VerdictList",
    "VerdictMethod",
    "VerdictRequest",
    "VerdictResult",
    "WinnerAnswer",
    "WinnersAnswer",
    "WithoutObservations",
)
