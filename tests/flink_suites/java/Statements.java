import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;

/**
 * Writes what Flink's planner has against statements, a line of JSON each, null for one that it takes:
 * {@code Statements OUT IN TABLES}, where IN has a text of JSON a line, and TABLES a statement a line, run before.
 */
public final class Statements {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        EnvironmentSettings settings = EnvironmentSettings.newInstance().build();
        TableEnvironmentInternal environment = (TableEnvironmentInternal) TableEnvironment.create(settings);
        for (String line : Files.readAllLines(Path.of(arguments[2]))) {
            environment.executeSql(line);
        }
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(arguments[0])), false, StandardCharsets.UTF_8)) {
            for (String line : Files.readAllLines(Path.of(arguments[1]))) {
                out.println(json.writeValueAsString(refusal(environment, json.readValue(line, String.class))));
            }
        }
        System.exit(0);
    }

    private static String refusal(TableEnvironmentInternal environment, String statement) {
        try {
            environment.getParser().parse(statement);
            return null;
        } catch (Throwable error) {
            Throwable last = error;
            while (last.getCause() != null) {
                last = last.getCause();
            }
            return last.getClass().getSimpleName() + ": " + String.valueOf(last.getMessage()).split("\n")[0];
        }
    }
}
