package org.apache.flink.table.planner.expressions.utils;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.expressions.Expression;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.types.AbstractDataType;
import org.apache.flink.types.Row;

/** Stands before Flink's class of that name, and keeps what its tests ask for instead of evaluating it. */
public abstract class ExpressionTestBase {
    public static final List<Map<String, Object>> ASKED = new ArrayList<>();
    public final boolean streaming;
    private TableConfig configuration = TableConfig.getDefault();

    public ExpressionTestBase(boolean streaming) {
        this.streaming = streaming;
    }

    public static boolean $lessinit$greater$default$1() {
        return true;
    }

    public TableConfig tableConfig() {
        return configuration;
    }

    public void tableConfig_$eq(TableConfig given) {
        configuration = given;
    }

    public String nullable() {
        return "NULL";
    }

    public void prepare() {}

    public void evaluateExprs() {}

    public void testAllApis(Expression expression, String sql, String expected) {
        keep(sql, expected, false);
    }

    public void testTableApi(Expression expression, String expected) {}

    public void testSqlApi(String sql, String expected) {
        keep(sql, expected, false);
    }

    public void testSqlApi(String sql) {
        keep(sql, null, false);
    }

    public void testExpectedAllApisException(
            Expression expression, String sql, String keywords, Class<? extends Throwable> error) {
        keep(sql, null, true);
    }

    public Class<? extends Throwable> testExpectedAllApisException$default$4() {
        return ValidationException.class;
    }

    public void testExpectedSqlException(String sql, String keywords, Class<? extends Throwable> error) {
        keep(sql, null, true);
    }

    public Class<? extends Throwable> testExpectedSqlException$default$3() {
        return ValidationException.class;
    }

    public void testExpectedTableApiException(
            Expression expression, String keywords, Class<? extends Throwable> error) {}

    public Class<? extends Throwable> testExpectedTableApiException$default$3() {
        return ValidationException.class;
    }

    public abstract Row testData();

    public AbstractDataType<?> testDataType() {
        throw new IllegalArgumentException("no type");
    }

    public Map<String, ScalarFunction> testSystemFunctions() {
        return Collections.emptyMap();
    }

    public boolean containsLegacyTypes() {
        return true;
    }

    @SuppressWarnings("unchecked")
    public scala.collection.immutable.Map<String, ScalarFunction> functions() {
        return (scala.collection.immutable.Map<String, ScalarFunction>)
                (Object) scala.collection.immutable.Map$.MODULE$.empty();
    }

    public RowTypeInfo typeInfo() {
        throw new IllegalArgumentException("no type");
    }

    public String timestampLtz(String text) {
        int dot = text.indexOf('.');
        return timestampLtz(text, dot < 0 ? 0 : text.length() - dot - 1);
    }

    public String timestampLtz(String text, int precision) {
        return "CAST(TIMESTAMP '" + text + "' AS TIMESTAMP_LTZ(" + precision + "))";
    }

    private void keep(String sql, String expected, boolean refused) {
        Map<String, Object> asked = new LinkedHashMap<>();
        asked.put("sql", sql);
        asked.put("text", expected);
        asked.put("refused", refused || isCaught());
        Map<String, String> settings = new LinkedHashMap<>(configuration.getConfiguration().toMap());
        settings.put("table.local-time-zone", configuration.getLocalTimeZone().toString());
        asked.put("configuration", settings);
        ASKED.add(asked);
    }

    /** Whether the test waits for an error around the call. */
    private static boolean isCaught() {
        for (StackTraceElement each : new Throwable().getStackTrace()) {
            if (each.getClassName().contains("ThrowableAssert")
                    || each.getClassName().contains("ThrowableTypeAssert")
                    || each.getMethodName().equals("catchThrowable")) {
                return true;
            }
        }
        return false;
    }
}
