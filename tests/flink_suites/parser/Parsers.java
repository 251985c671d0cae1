package org.apache.calcite.sql.parser;

import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.apache.calcite.avatica.util.Quoting;
import org.apache.calcite.config.Lex;
import org.apache.calcite.sql.SqlDialect;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.test.SqlTestFactory;
import org.apache.calcite.util.JsonBuilder;
import org.apache.flink.sql.parser.impl.FlinkSqlParserImpl;
import org.apache.flink.sql.parser.validate.FlinkSqlConformance;
import org.hamcrest.Matcher;
import org.junit.jupiter.api.Test;

/** Writes the texts of Calcite's tests of parsers, and what Flink's parser says of each, as JSON: {@code Parsers OUT}. */
public final class Parsers extends SqlParserTest implements SqlParserTest.Tester {
    private static final SqlParser.Config FLINK = SqlParser.config()
            .withParserFactory(FlinkSqlParserImpl.FACTORY).withConformance(FlinkSqlConformance.DEFAULT)
            .withLex(Lex.JAVA).withIdentifierMaxLength(256);
    private final List<String> texts = new ArrayList<>();

    @Override
    public SqlParserFixture fixture() {
        return super.fixture().withTester(this).withConfig(config -> config.withQuoting(Quoting.BACK_TICK));
    }

    public static void main(String[] arguments) throws Exception {
        Method[] methods = SqlParserTest.class.getDeclaredMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        Map<String, Object> found = new TreeMap<>();
        for (Method method : methods) {
            if (!method.isAnnotationPresent(Test.class)) {
                continue;
            }
            Parsers test = new Parsers();
            method.setAccessible(true);
            try {
                method.invoke(test);
            } catch (InvocationTargetException endsEarly) {
                System.err.println(method.getName() + ": " + endsEarly.getCause());
            }
            List<Map<String, Object>> asked = new ArrayList<>();
            for (String text : test.texts) {
                Map<String, Object> each = new TreeMap<>();
                each.put("sql", text);
                each.put("refusal", refusal(text));
                asked.add(each);
            }
            found.put(method.getName(), asked);
        }
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(arguments[0])), false, StandardCharsets.UTF_8)) {
            out.println(new JsonBuilder().toJsonString(found));
        }
        System.exit(0);
    }

    /** What Flink's parser has against a text; null for one that it takes. */
    private static String refusal(String text) {
        try {
            SqlParser.create(text, FLINK).parseStmtList();
            return null;
        } catch (Throwable error) {
            return String.valueOf(error.getMessage()).split("\n")[0];
        }
    }

    private void keep(StringAndPos given, boolean expression) {
        texts.add(expression ? "SELECT " + given.sql : given.sql);
    }

    @Override
    public void checkList(SqlTestFactory f, StringAndPos given, SqlDialect d, UnaryOperator<String> c, List<String> e) {
        keep(given, false);
    }

    @Override
    public void check(SqlTestFactory f, StringAndPos given, SqlDialect d, UnaryOperator<String> c, String e, Consumer<SqlParser> p) {
        keep(given, false);
    }

    @Override
    public void checkExp(SqlTestFactory f, StringAndPos given, UnaryOperator<String> c, String e, Consumer<SqlParser> p) {
        keep(given, true);
    }

    @Override
    public void checkFails(SqlTestFactory f, StringAndPos given, boolean list, String message) {
        keep(given, false);
    }

    @Override
    public void checkExpFails(SqlTestFactory f, StringAndPos given, String message) {
        keep(given, true);
    }

    @Override
    public void checkNode(SqlTestFactory f, StringAndPos given, Matcher<SqlNode> matcher) {
        keep(given, false);
    }
}
