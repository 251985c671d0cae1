package org.apache.flink.table.planner.functions;

import java.io.PrintStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.api.java.typeutils.TypeExtractor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.expressions.DefaultSqlFactory;
import org.apache.flink.table.expressions.Expression;
import org.apache.flink.table.operations.ProjectQueryOperation;
import org.apache.flink.table.types.AbstractDataType;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.CharType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Writes what Flink's tests of functions specify, as lines of JSON: {@code Specifications OUT CLASS...}.
 *
 * <p>It stands in the package of the tests, whose specifications are private to it. A value is an object of one
 * member, which names its kind; NULL, TRUE and FALSE stand for themselves.
 */
public final class Specifications {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSSSSS");
    private static final DateTimeFormatter TIMESTAMP = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSSSSS");

    public static void main(String[] arguments) throws Exception {
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(arguments[0])), false, StandardCharsets.UTF_8)) {
            for (String name : Arrays.copyOfRange(arguments, 1, arguments.length)) {
                Class<?> found = Class.forName("org.apache.flink.table.planner.functions." + name);
                if (!BuiltInFunctionTestBase.class.isAssignableFrom(found)
                        && !BuiltInAggregateFunctionTestBase.class.isAssignableFrom(found)) {
                    continue;
                }
                Constructor<?> constructor = found.getDeclaredConstructor();
                constructor.setAccessible(true);
                Object test = constructor.newInstance();
                if (test instanceof BuiltInFunctionTestBase) {
                    scalars(name, (BuiltInFunctionTestBase) test, out);
                } else {
                    aggregates(name, (BuiltInAggregateFunctionTestBase) test, out);
                }
            }
        }
    }

    private static void scalars(String name, BuiltInFunctionTestBase test, PrintStream out) throws Exception {
        Configuration configuration = test.getConfiguration();
        TableEnvironmentInternal environment = environment(configuration);
        DataTypeFactory types = environment.getCatalogManager().getDataTypeFactory();
        int number = 0;
        for (BuiltInFunctionTestBase.TestSetSpec spec : test.getTestSetSpecs().collect(Collectors.toList())) {
            List<Class> functions = (List<Class>) member(spec, "functions");
            for (Class function : functions) {
                environment.dropTemporarySystemFunction(function.getSimpleName());
                environment.createTemporarySystemFunction(function.getSimpleName(), function);
            }
            Object[] data = (Object[]) member(spec, "fieldData");
            AbstractDataType<?>[] declared = (AbstractDataType<?>[]) member(spec, "fieldDataTypes");
            Table input = input(environment, data, declared);
            Map<String, Object> shared = new LinkedHashMap<>();
            shared.put("suite", name);
            shared.put("spec", number++);
            shared.put("configuration", configuration.toMap());
            shared.put("functions", functions.stream().map(Class::getSimpleName).collect(Collectors.toList()));
            shared.put("types", data == null ? List.of() : texts(input.getResolvedSchema().getColumnDataTypes(), types));
            shared.put("names", data == null ? List.of() : input.getResolvedSchema().getColumnNames());
            shared.put("rows", data == null ? List.of() : List.of(value(given(input, data))));
            int item = 0;
            for (Object each : (List<?>) member(spec, "testItems")) {
                Map<String, Object> found = new LinkedHashMap<>(shared);
                found.put("item", item++);
                Object expression = member(each, "expression");
                String kind = each.getClass().getSimpleName();
                found.put("api", !kind.startsWith("Sql"));
                found.put("sql", expression instanceof String ? expression : sql(input, expression));
                expectation(found, each, kind, types);
                out.println(JSON.writeValueAsString(found));
            }
        }
    }

    private static void aggregates(String name, BuiltInAggregateFunctionTestBase test, PrintStream out) throws Exception {
        int number = 0;
        for (BuiltInAggregateFunctionTestBase.TestSpec spec : test.getTestCaseSpecs().collect(Collectors.toList())) {
            Configuration configuration = (Configuration) member(spec, "configuration");
            TableEnvironmentInternal environment = environment(configuration);
            DataTypeFactory types = environment.getCatalogManager().getDataTypeFactory();
            DataType type = (DataType) member(spec, "sourceRowType");
            List<Row> rows = (List<Row>) member(spec, "sourceRows");
            environment.createTemporaryView("src", BuiltInAggregateFunctionTestBase.asTable(environment, type, rows));
            Map<String, Object> shared = new LinkedHashMap<>();
            shared.put("suite", name);
            shared.put("spec", number++);
            shared.put("configuration", configuration.toMap());
            shared.put("functions", List.of());
            shared.put("types", texts(DataType.getFieldDataTypes(type), types));
            shared.put("names", DataType.getFieldNames(type));
            shared.put("rows", rows.stream().map(Specifications::value).collect(Collectors.toList()));
            int item = 0;
            for (Object each : (List<?>) member(spec, "testItems")) {
                Map<String, Object> found = new LinkedHashMap<>(shared);
                String kind = each.getClass().getSimpleName();
                found.put("item", item++);
                found.put("api", !kind.startsWith("Sql"));
                found.put("aggregate", true);
                found.put("sql", kind.startsWith("Sql") ? query(each, environment.from("src")) : null);
                expectation(found, each, kind, types);
                out.println(JSON.writeValueAsString(found));
            }
        }
    }

    private static String query(Object item, Table source) throws Exception {
        return ((Function<Table, String>) member(item, "spec")).apply(source);
    }

    private static void expectation(Map<String, Object> found, Object item, String kind, DataTypeFactory types)
            throws Exception {
        if (kind.contains("Error")) {
            found.put("refused", true);
            found.put("when compiled", member(item, "expectedDuringValidation"));
            found.put("error", String.valueOf(member(item, "errorMessage")));
        } else if (found.containsKey("aggregate")) {
            found.put("result types", texts(DataType.getFieldDataTypes((DataType) member(item, "expectedRowType")), types));
            found.put("results", list(member(item, "expectedRows")).stream().map(Specifications::value).collect(Collectors.toList()));
        } else {
            found.put("result types", texts(list(member(item, "dataTypes")), types));
            found.put("results", list(member(item, "results")).stream().map(Specifications::value).collect(Collectors.toList()));
        }
    }

    private static Table input(TableEnvironmentInternal environment, Object[] data, AbstractDataType<?>[] declared) {
        if (data == null) {
            return environment.fromValues(Row.of(1));
        }
        if (declared == null) {
            return environment.fromValues(Row.of(data));
        }
        DataTypes.UnresolvedField[] fields = new DataTypes.UnresolvedField[declared.length];
        for (int at = 0; at < declared.length; at++) {
            fields[at] = DataTypes.FIELD("f" + at, declared[at]);
        }
        return environment.fromValues(DataTypes.ROW(fields), Row.of(data));
    }

    /** The one row of a table; as Flink reads it where values are expressions, or not quite of their columns' types. */
    private static Row given(Table input, Object[] data) {
        List<DataType> types = input.getResolvedSchema().getColumnDataTypes();
        boolean exact = true;
        for (int at = 0; at < data.length; at++) {
            exact &= !(data[at] instanceof Expression) && isExact(data[at], types.get(at).getLogicalType());
        }
        if (exact) {
            return Row.of(data);
        }
        try (CloseableIterator<Row> rows = input.execute().collect()) {
            return rows.next();
        } catch (Exception notReadable) {
            return Row.of(data);
        }
    }

    private static boolean isExact(Object value, LogicalType type) {
        if (value instanceof String && type instanceof CharType) {
            return ((String) value).length() == ((CharType) type).getLength();
        }
        return !(value instanceof Integer) || !(type instanceof SmallIntType || type instanceof TinyIntType);
    }

    /** SQL of expressions of the Table API; null where there is none. */
    private static String sql(Table input, Object expression) {
        List<Expression> expressions = expression instanceof List ? (List<Expression>) expression : List.of((Expression) expression);
        try {
            Object projection = input.select(expressions.toArray(new Expression[0])).getQueryOperation();
            return ((ProjectQueryOperation) projection)
                    .getProjectList().stream()
                            .map(each -> each.asSerializableString(DefaultSqlFactory.INSTANCE))
                            .collect(Collectors.joining(", "));
        } catch (Exception none) {
            return null;
        }
    }

    private static TableEnvironmentInternal environment(Configuration configuration) {
        EnvironmentSettings settings = EnvironmentSettings.newInstance().withConfiguration(configuration).build();
        return (TableEnvironmentInternal) TableEnvironment.create(settings);
    }

    private static Object member(Object of, String name) throws Exception {
        for (Class<?> at = of.getClass(); at != null; at = at.getSuperclass()) {
            try {
                Field field = at.getDeclaredField(name);
                field.setAccessible(true);
                return field.get(of);
            } catch (NoSuchFieldException inherited) {
                continue;
            }
        }
        throw new NoSuchFieldException(name + " of " + of.getClass());
    }

    private static List<?> list(Object of) {
        return of instanceof Object[] ? Arrays.asList((Object[]) of) : of == null ? List.of() : new ArrayList<>((Collection<?>) of);
    }

    private static List<String> texts(List<?> of, DataTypeFactory types) {
        return of.stream().map(each -> text((AbstractDataType<?>) each, types)).collect(Collectors.toList());
    }

    private static String text(AbstractDataType<?> type, DataTypeFactory types) {
        DataType found = types.createDataType(type);
        try {
            return found.getLogicalType().asSerializableString();
        } catch (Exception notInSql) {
            return found.getLogicalType().asSummaryString();
        }
    }

    public static Object value(Object of) {
        if (of == null || of instanceof Boolean) {
            return of;
        }
        if (of instanceof Byte || of instanceof Short || of instanceof Integer || of instanceof Long) {
            return Map.of("number", of);
        }
        if (of instanceof Float || of instanceof Double) {
            return Map.of("float", of.toString());
        }
        if (of instanceof BigDecimal) {
            return Map.of("decimal", ((BigDecimal) of).toPlainString());
        }
        if (of instanceof DecimalData) {
            return value(((DecimalData) of).toBigDecimal());
        }
        if (of instanceof String || of instanceof Character) {
            return Map.of("text", of.toString());
        }
        if (of instanceof byte[]) {
            return Map.of("bytes", HexFormat.of().formatHex((byte[]) of));
        }
        if (of instanceof LocalDate) {
            return Map.of("date", of.toString());
        }
        if (of instanceof LocalTime) {
            return Map.of("time", ((LocalTime) of).format(TIME));
        }
        if (of instanceof LocalDateTime) {
            return Map.of("timestamp", ((LocalDateTime) of).format(TIMESTAMP));
        }
        if (of instanceof Instant) {
            return Map.of("instant", List.of(((Instant) of).getEpochSecond(), ((Instant) of).getNano()));
        }
        if (of instanceof ZonedDateTime) {
            return value(((ZonedDateTime) of).toInstant());
        }
        if (of instanceof OffsetDateTime) {
            return value(((OffsetDateTime) of).toInstant());
        }
        if (of instanceof java.sql.Timestamp) {
            return value(((java.sql.Timestamp) of).toLocalDateTime());
        }
        if (of instanceof java.sql.Date) {
            return value(((java.sql.Date) of).toLocalDate());
        }
        if (of instanceof java.sql.Time) {
            return value(((java.sql.Time) of).toLocalTime());
        }
        if (of instanceof Duration) {
            return Map.of("number", ((Duration) of).toMillis());
        }
        if (of instanceof Period) {
            return Map.of("number", ((Period) of).toTotalMonths());
        }
        if (of instanceof Row) {
            Row row = (Row) of;
            Set<String> names = row.getFieldNames(false);
            List<Object> values = new ArrayList<>();
            for (int at = 0; at < row.getArity(); at++) {
                values.add(value(row.getField(at)));
            }
            if (names != null && names.size() == row.getArity()) {
                values = names.stream().map(each -> value(row.getField(each))).collect(Collectors.toList());
            }
            return Map.of("row", values, "kind", row.getKind().shortString());
        }
        if (of instanceof Map) {
            return Map.of("map", ((Map<?, ?>) of).entrySet().stream()
                    .map(each -> Arrays.asList(value(each.getKey()), value(each.getValue()))).collect(Collectors.toList()));
        }
        if (of.getClass().isArray()) {
            List<Object> values = new ArrayList<>();
            for (int at = 0; at < Array.getLength(of); at++) {
                values.add(value(Array.get(of, at)));
            }
            return Map.of("array", values);
        }
        if (of instanceof Iterable) {
            return Map.of("array", StreamSupport.stream(((Iterable<?>) of).spliterator(), false).map(Specifications::value).collect(Collectors.toList()));
        }
        List<Object> members = members(of);
        return members == null ? Map.of("java", of.getClass().getName()) : Map.of("row", members, "kind", "+I");
    }

    /** Members of a tuple, of a class of Scala or of one with fields; null for any other value. */
    private static List<Object> members(Object of) {
        List<Object> values = new ArrayList<>();
        if (of instanceof Tuple) {
            for (int at = 0; at < ((Tuple) of).getArity(); at++) {
                values.add(value(((Tuple) of).getField(at)));
            }
            return values;
        }
        if (of instanceof scala.Product) {
            for (int at = 0; at < ((scala.Product) of).productArity(); at++) {
                values.add(value(((scala.Product) of).productElement(at)));
            }
            return values;
        }
        TypeInformation<?> information = TypeExtractor.createTypeInfo(of.getClass());
        if (!(information instanceof PojoTypeInfo)) {
            return null;
        }
        try {
            for (String name : ((PojoTypeInfo<?>) information).getFieldNames()) {
                values.add(value(member(of, name)));
            }
            return values;
        } catch (Exception notReadable) {
            return null;
        }
    }
}
