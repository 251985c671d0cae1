import java.io.PrintStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.planner.expressions.utils.ExpressionTestBase;
import org.apache.flink.table.planner.functions.Specifications;
import org.apache.flink.table.runtime.types.TypeInfoLogicalTypeConverter;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.types.Row;

/**
 * Writes what Flink's tests of expressions ask for, as lines of JSON: {@code Expressions OUT CLASS...}.
 *
 * <p>The row of a test is a column a value; an expression's result is expected as a text.
 */
public final class Expressions {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        EnvironmentSettings settings = EnvironmentSettings.newInstance().build();
        DataTypeFactory types = ((TableEnvironmentInternal) TableEnvironment.create(settings)).getCatalogManager().getDataTypeFactory();
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(arguments[0])), false, StandardCharsets.UTF_8)) {
            for (String name : Arrays.copyOfRange(arguments, 1, arguments.length)) {
                Class<?> test = Class.forName("org.apache.flink.table.planner.expressions." + name);
                if (ExpressionTestBase.class.isAssignableFrom(test) && hasNoParameters(test)) {
                    write(name, test, types, out);
                }
            }
        }
        System.exit(0);
    }

    private static void write(String name, Class<?> test, DataTypeFactory types, PrintStream out) throws Exception {
        Map<String, Object> shared = new LinkedHashMap<>();
        shared.put("suite", name);
        shared.put("spec", 0);
        row((ExpressionTestBase) test.getConstructor().newInstance(), shared, types);
        Method[] methods = test.getMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        int item = 0;
        for (Method method : methods) {
            if (!isTest(method)) {
                continue;
            }
            ExpressionTestBase.ASKED.clear();
            try {
                method.invoke(test.getConstructor().newInstance());
            } catch (InvocationTargetException endsEarly) {
                // What it asked for before stands.
                System.err.println(name + "." + method.getName() + ": " + endsEarly.getCause());
            }
            for (Map<String, Object> asked : ExpressionTestBase.ASKED) {
                Map<String, Object> found = new LinkedHashMap<>(shared);
                found.putAll(asked);
                found.put("item", item++);
                out.println(JSON.writeValueAsString(found));
            }
        }
    }

    private static boolean hasNoParameters(Class<?> test) {
        return Arrays.stream(test.getConstructors()).anyMatch(each -> each.getParameterCount() == 0);
    }

    private static boolean isTest(Method method) {
        boolean found = false;
        for (Annotation each : method.getAnnotations()) {
            String kind = each.annotationType().getSimpleName();
            if (kind.equals("Disabled")) {
                return false;
            }
            found |= kind.equals("Test");
        }
        return found;
    }

    private static void row(ExpressionTestBase test, Map<String, Object> into, DataTypeFactory factory) {
        List<String> names = new ArrayList<>();
        List<LogicalType> types = new ArrayList<>();
        Row data = test.testData();
        if (test.containsLegacyTypes()) {
            RowTypeInfo info = test.typeInfo();
            names.addAll(Arrays.asList(info.getFieldNames()));
            for (int at = 0; at < names.size(); at++) {
                types.add(TypeInfoLogicalTypeConverter.fromTypeInfoToLogicalType(info.getTypeAt(at)));
            }
        } else {
            DataType type = factory.createDataType(test.testDataType());
            names.addAll(DataType.getFieldNames(type));
            DataType.getFieldDataTypes(type).forEach(each -> types.add(each.getLogicalType()));
        }
        List<String> functions = new ArrayList<>(test.testSystemFunctions().keySet());
        scala.collection.Iterator<String> keys = test.functions().keysIterator();
        while (keys.hasNext()) {
            functions.add(keys.next());
        }
        into.put("functions", functions);
        into.put("names", names);
        into.put("types", types.stream().map(LogicalType::asSummaryString).collect(Collectors.toList()));
        into.put("rows", names.isEmpty() ? List.of() : List.of(Specifications.value(data)));
    }
}
