"""The entry point of the Python API: a catalog, options, and statements to execute. Names are PyFlink's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from execnodes.core.changelog import RowKind
from execnodes.core.errors import PlanError, SqlError
from execnodes.core.garbage import no_collection
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.lowering.spark_sql import text_literal
from execnodes.lowering.stream import KIND
from execnodes.user_functions.loading import Definition, Function
from planner.catalog.catalogs import Catalog, CatalogObject, InlineTable, PlanView, quoted
from planner.catalog.store import CatalogStore
from planner.catalog.user_functions import UserFunction
from planner.lower.compiled import prefixed
from planner.parse import parse
from planner.statements import Body, Insert, QueryStatement, Statement, StatementSet
from plans.compatibility.restore import resolve_tables
from plans.compatibility.user_functions import resolve_functions, with_accumulators
from plans.format.node_tables import tables_of
from rekindle.api.data_streams import DataStreams, check_columns, check_type, stream_name, stream_table
from rekindle.api.inline_functions import InlineFunctions
from rekindle.api.resolved_schema import number_repeated
from rekindle.api.schema import Schema, resolve_schema
from rekindle.api.session_catalog import SessionCatalog
from rekindle.api.statement_set import StatementSet as StatementSetBuilder
from rekindle.api.table import Table
from rekindle.connectors.registry import register_installed
from rekindle.files.catalog_folder import open_catalog_folder
from rekindle.results.compiled_plan import CompiledPlan, PlanSource
from rekindle.results.plan_reference import PlanReference
from rekindle.results.table_result import TableResult
from rekindle.spark.releases import require_classic
from rekindle.spark.types import row_type
from rekindle.statements.catalog_tables import CatalogTables
from rekindle.statements.compile import compile_body, lineages
from rekindle.statements.evolution import Approve, Origin
from rekindle.statements.execute import execute, require_insert
from rekindle.statements.option_places import placed_options
from rekindle.statements.plan_upgrade import PlanUpgrade, upgrade_plan
from rekindle.statements.query_sink import collected
from rekindle.statements.script_body import script_body

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from planner.algebra.lineage import Lineage
    from rekindle.runtime.job import Job

OnResult = Callable[[Statement, TableResult], None]


class TableEnvironment(SessionCatalog):
    """A session: its catalog, its options, and what runs in it."""

    def __init__(self, configuration: Configuration, spark: SparkSession | None = None) -> None:
        self.configuration = configuration
        self.catalog = Catalog({"file": open_catalog_folder})
        self.tables = CatalogTables(self.catalog)
        self.data_streams = DataStreams()
        self.spark = spark
        self.jobs: list[Job] = []
        """Jobs of INSERTs and plans that were started here, ended ones too."""
        self.open_inserts: list[Insert] | None = None
        """INSERTs of a statement set that was begun and waits for END."""
        self.approve: Approve | None = None
        """Asked about state that a changed query loses, if `table.plan.evolution.consent` is await_approval."""
        self._named = 0

    @classmethod
    def create(cls, configuration: Mapping[str, str] | None = None, *, spark: SparkSession | None = None) -> Self:
        """A new session; OptionError for an unknown option. Without `spark` one is started when a job first runs."""
        register_installed()
        require_classic(spark)
        own = Configuration()
        for key, value in (configuration or {}).items():
            own.put(key, value)
        return cls(own, spark)

    def register_catalog(self, name: str, catalog: CatalogStore) -> None:
        """Add a catalog of any kind (docs/catalogs.md); CatalogError if the name is taken."""
        self.catalog.register(name, catalog, {})

    # -- SQL

    def execute_sql(self, statement: str) -> TableResult:
        """Execute one statement; an INSERT, a plan or a SELECT is started and not waited for."""
        return self._execute(_only(parse(statement), "execute_sql"))

    def _execute(self, statement: Statement) -> TableResult:
        require_insert(statement, self)
        return execute(statement, self)

    def execute_script(self, text: str, on_result: OnResult | None = None) -> list[TableResult]:
        """Execute statements in order.

        `on_result` is told each result; the default waits for jobs to end unless `table.dml-sync` is false.
        """
        results = []
        script = parse(text)
        for statement in script:
            with placed_options(script):
                result = self._execute(statement)
            if on_result is not None:
                on_result(statement, result)
            elif result.is_query or self.configuration.flag("table.dml-sync"):
                result.await_()
            results.append(result)
        return results

    def sql_query(self, query: str) -> Table:
        """A query as a Table."""
        statement = _only(parse(query), "sql_query")
        if not isinstance(statement, QueryStatement):
            raise SqlError("this is no query", position=statement.position, hint="Give a SELECT, VALUES or WITH.")
        return Table(self, number_repeated(statement.text, statement.query, self.catalog, self.configuration))

    def name_query(self, sql: str) -> str:
        """Register a query under a name that is free; for parts of SQL that take only names."""
        name = self._free_name()
        self.execute_sql(f"CREATE TEMPORARY VIEW `{name}` AS {sql}")
        return name

    def _free_name(self) -> str:
        while True:
            self._named += 1
            name = f"query_{self._named}"
            if self.catalog.find((name,)) is None:
                return name

    # -- functions

    def create_temporary_function(self, path: str, function: Function) -> None:
        """Register a function of Python under a name of the catalog; plans hold the name alone.

        `function`: what `udf` gives, a function class or object, or a plain function with hints. FunctionError if it
        says too little of its types, CatalogError if the name is taken.
        """
        self._register(tuple(path.split(".")), function, system=False)

    def create_temporary_system_function(self, name: str, function: Function) -> None:
        """As `create_temporary_function`, but found from every catalog and before functions of the system."""
        self._register((name,), function, system=True)

    def drop_temporary_function(self, path: str) -> bool:
        """Forget a temporary function; whether there was one."""
        return self._unregister(tuple(path.split(".")), system=False)

    def drop_temporary_system_function(self, name: str) -> bool:
        """Forget a temporary system function; whether there was one."""
        return self._unregister((name,), system=True)

    def list_user_defined_functions(self) -> list[str]:
        """Names of the user's functions that can be called without a database, sorted."""
        return self.catalog.list_functions()

    def name_function(self, function: object) -> str:
        """SQL of the name of a function that was called as an object, under which it is registered now."""
        return InlineFunctions(self.catalog).name(function)

    def _register(self, path: tuple[str, ...], function: Function, *, system: bool) -> None:
        created = UserFunction(given=function)
        created.definition(path[-1])
        self.catalog.create_function(path, created, temporary=True, system=system, if_not_exists=False)

    def _unregister(self, path: tuple[str, ...], *, system: bool) -> bool:
        before = len(self.catalog.list_functions())
        self.catalog.drop_function(path, temporary=True, system=system, if_exists=True)
        return len(self.catalog.list_functions()) < before

    # -- data streams

    def register_data_stream(self, frame: DataFrame, uid: str, *, bounded: bool | None = None) -> None:
        """Make a DataFrame known to plans that read the data stream `uid`; CatalogError if another one has the uid.

        `bounded`: whether it ends by itself; by default a streaming DataFrame does not, any other does.
        """
        self.data_streams.register(frame, uid, bounded)

    def unregister_data_streams(self) -> None:
        """Forget all data streams; jobs that run keep theirs."""
        self.data_streams.clear()

    def from_data_stream(
        self,
        frame: DataFrame,
        schema: Schema | str | None = None,
        uid: str | None = None,
        *,
        bounded: bool | None = None,
    ) -> Table:
        """A DataFrame as a Table of inserts. Without `uid` nothing that reads it can be compiled, and so none run.

        `schema` (or its text) chooses, orders and types columns, computes others, and gives a watermark.
        """
        given = row_type(frame.schema, stream_name(uid))
        resolved = resolve_schema(schema, given, self.catalog, self.configuration)
        check_columns(uid, resolved, frame)
        if uid:
            self.register_data_stream(frame, uid, bounded=bounded)
        return self._view(InlineTable(stream_table(resolved, uid)))

    def as_data_stream(
        self, query: CompiledPlan | Table, schema: Schema | str | None = None, *, changelog: bool = False
    ) -> DataFrame:
        """The rows of a query, or of its plan, as a streaming DataFrame; the caller starts a Spark query on it.

        In batch mode it is a DataFrame that ends.
        `schema`: columns and types that it must have, PlanError says which has not. A query that updates its rows
        needs `changelog`, which puts a text column ``row_kind`` (+I, -U, +U, -D) behind the others.
        """
        from rekindle.statements.plan_query import query_of

        plan = query if isinstance(query, CompiledPlan) else query.compile_plan()
        result = query_of(plan.graph, plan.source)
        if schema is not None:
            check_type(resolve_schema(schema, result.type, self.catalog, self.configuration), result.type, plan.source)
        if not (changelog or result.node.changelog_mode.insert_only):
            raise PlanError(
                f"the query updates its rows ({result.node.changelog_mode}), and a DataFrame only has inserts",
                where=plan.source,
                hint="Write as_data_stream(…, changelog=True) for a column row_kind that tells what each row does.",
            )
        frame = self._job(self.resolved(plan), plan).frame()
        names = [quoted((field.name,)) for field in result.type.fields]
        return frame.selectExpr(*names, *([f"{_row_kind()} AS row_kind"] if changelog else []))

    def attach_as_data_stream(self, plan: CompiledPlan) -> DataStreamWriter:
        """The pipeline of a plan for the caller to start; see `StatementSet.attach_as_data_stream`."""
        if not self.configuration.get_option("execution.job-dir"):
            raise PlanError(
                "a pipeline that is attached needs a folder: sinks remember there what they have written",
                where=plan.source,
                hint="SET 'execution.job-dir' = '/path' first, and keep it for every later start.",
            )
        return self._job(self.resolved(plan), plan).attach()

    def _view(self, created: CatalogObject) -> Table:
        name = self.catalog.create((self._free_name(),), created, temporary=True)
        return Table(self, f"SELECT * FROM {quoted(name)}")

    def create_statement_set(self) -> StatementSetBuilder:
        """Several INSERTs that run as one pipeline."""
        return StatementSetBuilder(self)

    def explain_sql(self, statement: str, *details: str) -> str:
        """EXPLAIN of an INSERT, a statement set or a query."""
        return self.compile_plan_sql(statement).explain(*details)

    # -- plans

    def compile_plan_sql(self, statement: str, *, from_plan: PlanSource | None = None) -> CompiledPlan:
        """Compile an INSERT, a statement set or a query.

        `from_plan`: operators that mean the same as in that plan keep its uids, hence their state; what becomes of it
        is the result's `comparison`. EvolutionError for state that is lost without consent.
        """
        with no_collection():
            return self.compile_body(_compilable(_only(parse(statement), "compile_plan_sql")), from_plan=from_plan)

    def compile_script(self, text: str, *, from_plan: PlanSource | None = None) -> CompiledPlan:
        """Run a script's DDL and SETs and compile its one INSERT, statement set or query, as `compile_plan_sql`."""
        script = parse(text)
        with no_collection(), placed_options(script):
            return self.compile_body(script_body(script, self), from_plan=from_plan)

    def lineage_of_script(self, text: str) -> tuple[Lineage, ...]:
        """Run a script's DDL and SETs, and say which table columns feed each column of each sink."""
        return lineages(script_body(parse(text), self), self.catalog, self.configuration)

    def compile_body(
        self, body: Body, plans: Sequence[ExecGraph] = (), from_plan: PlanSource | None = None
    ) -> CompiledPlan:
        """Compile what has been parsed, together with `plans` that are compiled already."""
        origin = None
        if from_plan is not None:
            loaded = from_plan if isinstance(from_plan, CompiledPlan) else self.load_plan(from_plan)
            origin = Origin(loaded, self.approve)
        return compile_body(body, self.catalog, self.configuration, self, plans, origin)

    def load_plan(self, reference: PlanReference | str | Path) -> CompiledPlan:
        """Read a plan to be executed here."""
        found = reference if isinstance(reference, PlanReference) else PlanReference.from_file(reference)
        return CompiledPlan(found.read(), source=found.source, executor=self)

    def upgrade_plan(self, reference: PlanReference | str | Path) -> PlanUpgrade:
        """A plan of any release with the newest version of each node, to be written to a file and executed."""
        found = reference if isinstance(reference, PlanReference) else PlanReference.from_file(reference)
        return upgrade_plan(found, self)

    def migrate_plan(self, reference: PlanReference | str | Path) -> PlanUpgrade:
        """As `upgrade_plan`, which was called so until 1.2."""
        return self.upgrade_plan(reference)

    def from_plan(self, plan: CompiledPlan, *, uid_prefix: str | None = None) -> Table:
        """The query of a compiled plan as a Table; PlanError if the plan is that of INSERTs.

        Whatever is compiled on it holds the plan's nodes unchanged, under their uids, so that their state is found.
        With `uid_prefix` they are found under ``<prefix>_<uid>`` instead: for plans that were compiled apart.
        """
        from rekindle.statements.plan_query import query_of

        return self._view(PlanView(query_of(prefixed(plan.graph, uid_prefix), plan.source)))

    def execute_plan(self, plan: PlanSource) -> TableResult:
        """Start the pipeline of a plan."""
        loaded = plan if isinstance(plan, CompiledPlan) else self.load_plan(plan)
        graph = self.resolved(loaded)
        return self._run(graph, loaded)

    def resolved(self, plan: CompiledPlan) -> ExecGraph:
        """The nodes of a plan with all their tables and data streams."""
        graph = resolve_tables(
            plan.graph,
            self.tables,
            self.configuration.get_option("table.plan.restore.catalog-objects"),  # type: ignore[arg-type]  # checked on SET
            self.configuration.flag("table.plan.restore.enrich-table-options"),
        )
        self.data_streams.check(graph)
        return with_accumulators(graph, self.functions_of(graph))

    def functions_of(self, graph: ExecGraph) -> Mapping[str, Definition]:
        """The functions of the user that a plan calls; PlanError if one is not registered or has changed."""
        mode = self.configuration.get_option("table.plan.restore.catalog-objects")
        return resolve_functions(graph, self.tables, mode)  # type: ignore[arg-type]  # checked on SET

    def _run(self, graph: ExecGraph, plan: CompiledPlan) -> TableResult:
        graph, sink, name = collected(graph)
        in_background = sink is None and not self.configuration.flag("table.dml-sync")
        job = self._job(graph, plan, in_background=in_background).start()
        if sink is None or sink.resolved_table is None:
            self.jobs.append(job)
            return TableResult(message=f"Job {job.job_id} started.", job=job)
        columns = sink.resolved_table.table_schema.columns
        return TableResult(
            columns=[column.name for column in columns],
            types=[column.data_type for column in columns],
            job=job,
            collected=name,
            insert_only=graph.batch,
        )

    def _job(self, graph: ExecGraph, plan: CompiledPlan, *, in_background: bool = False) -> Job:
        from rekindle.runtime.batch_job import job_of

        session = self._with_folder() if in_background else self.configuration
        # Of the plan's options, those that this session has not set.
        configuration = Configuration({**plan.graph.job_options, **session})
        return job_of(
            graph,
            plan.as_json_string(),
            configuration,
            name=configuration.get_option("pipeline.name") or _job_name(graph),
            spark=self.spark,
            data_streams=self.data_streams.known,
            functions=self.functions_of(graph),
        )

    def _with_folder(self) -> Configuration:
        """Nobody waits for a background job: it gets a folder in which it is found and can be continued."""
        if self.configuration.get("execution.job-dir"):
            return self.configuration
        from rekindle.jobs.home import new_folder

        return Configuration({**self.configuration, "execution.job-dir": str(new_folder(self.configuration))})


def _only(statements: list[Statement], method: str) -> Statement:
    if len(statements) == 1:
        return statements[0]
    raise SqlError(
        f"{method} takes one statement, not {len(statements)}",
        position=statements[1].position if statements else None,
        hint="Use execute_script for a script.",
    )


def _compilable(statement: Statement) -> Body:
    if isinstance(statement, Insert | StatementSet | QueryStatement):
        return statement
    raise SqlError(
        "only an INSERT, a statement set or a query can be compiled",
        position=statement.position,
        hint="Run DDL and SET with execute_sql before.",
    )


def _row_kind() -> str:
    return f"CASE {KIND} {' '.join(f'WHEN {int(kind)} THEN {text_literal(kind.short)}' for kind in RowKind)} END"


def _job_name(graph: ExecGraph) -> str:
    names = (table.name for node in graph.roots() for table in tables_of(node))
    targets = dict.fromkeys(name.rsplit(".", 1)[-1] for name in names)
    if not targets:
        raise PlanError("the plan writes nowhere", hint="Compile an INSERT, a statement set or a query.")
    return f"insert-into_{'_'.join(targets)}"
