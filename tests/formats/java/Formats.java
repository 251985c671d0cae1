import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.table.format.BulkDecodingFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.formats.csv.CsvFileFormatFactory;
import org.apache.flink.formats.csv.CsvFormatFactory;
import org.apache.flink.formats.json.JsonFormatFactory;
import org.apache.flink.formats.json.canal.CanalJsonFormatFactory;
import org.apache.flink.formats.json.debezium.DebeziumJsonFormatFactory;
import org.apache.flink.table.connector.format.ProjectableDecodingFormat;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.util.Collector;

/**
 * Asks Flink's formats. A line of the input is a case: format, options (k=v, with | between), type of the table's row,
 * bytes in base64; the answer is a line of JSON, the rows as [kind, value, …], or ! and the reason.
 * The format csv-file is csv as the filesystem connector reads it; its bytes are a file, those of the others a record.
 */
public class Formats {
    private static final Map<String, DeserializationSchema<RowData>> schemas = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            String[] parts = line.split("\t", -1);
            String answer;
            try {
                answer = answer(parts[0], parts[1], parts[2], Base64.getDecoder().decode(parts[3]));
            } catch (Throwable error) {
                Throwable root = error;
                while (root.getCause() != null) {
                    root = root.getCause();
                }
                answer = "!" + String.valueOf(root).replaceAll("[\\r\\n\\t]", " ");
            }
            out.println(answer);
        }
    }

    static String answer(String format, String options, String type, byte[] bytes) throws Exception {
        Configuration given = new Configuration();
        for (String pair : options.split("\\|")) {
            if (!pair.isEmpty()) {
                given.setString(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
            }
        }
        LogicalType row = LogicalTypeParser.parse(type, Formats.class.getClassLoader());
        DataType data = TypeConversions.fromLogicalToDataType(row);
        List<String> rows = new ArrayList<>();
        Consumer<RowData> each = found -> rows.add("[" + quoted(found.getRowKind().shortString())
                + fields(row, found, ",") + "]");
        if (format.equals("csv-file")) {
            readFile(given, data, bytes, each);
            return "[" + String.join(",", rows) + "]";
        }
        String key = format + options + type;
        DeserializationSchema<RowData> schema = schemas.get(key);
        if (schema == null) {
            schema = decoder(format, given, data);
            schema.open(null);
            schemas.put(key, schema);
        }
        schema.deserialize(bytes, new Collector<RowData>() {
            @Override
            public void collect(RowData found) {
                if (found != null) {
                    each.accept(found);
                }
            }

            @Override
            public void close() {}
        });
        return "[" + String.join(",", rows) + "]";
    }

    static DeserializationSchema<RowData> decoder(String format, Configuration options, DataType type) {
        DeserializationFormatFactory factory = switch (format) {
            case "json" -> new JsonFormatFactory();
            case "csv" -> new CsvFormatFactory();
            case "debezium-json" -> new DebeziumJsonFormatFactory();
            case "canal-json" -> new CanalJsonFormatFactory();
            default -> throw new IllegalArgumentException(format);
        };
        DecodingFormat<DeserializationSchema<RowData>> decoding = factory.createDecodingFormat(null, options);
        DynamicTableSource.Context context = ScanRuntimeProviderContext.INSTANCE;
        if (decoding instanceof ProjectableDecodingFormat) {
            int width = type.getChildren().size();
            int[][] all = new int[width][];
            for (int at = 0; at < width; at++) {
                all[at] = new int[] {at};
            }
            return ((ProjectableDecodingFormat<DeserializationSchema<RowData>>) decoding)
                    .createRuntimeDecoder(context, type, all);
        }
        return decoding.createRuntimeDecoder(context, type);
    }

    static void readFile(Configuration options, DataType type, byte[] bytes, Consumer<RowData> each) throws Exception {
        BulkDecodingFormat<RowData> decoding = new CsvFileFormatFactory().createDecodingFormat(null, options);
        BulkFormat<RowData, FileSourceSplit> format =
                decoding.createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, type);
        File file = File.createTempFile("rows", ".csv");
        try {
            Files.write(file.toPath(), bytes);
            FileSourceSplit split = new FileSourceSplit(
                    "1", Path.fromLocalFile(file), 0, bytes.length, file.lastModified(), bytes.length);
            try (BulkFormat.Reader<RowData> reader = format.createReader(new Configuration(), split)) {
                for (BulkFormat.RecordIterator<RowData> batch; (batch = reader.readBatch()) != null; ) {
                    for (var record = batch.next(); record != null; record = batch.next()) {
                        each.accept(record.getRecord());
                    }
                    batch.releaseBatch();
                }
            }
        } finally {
            file.delete();
        }
    }

    static String fields(LogicalType type, RowData row, String before) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < type.getChildren().size(); at++) {
            LogicalType inner = type.getChildren().get(at);
            Object value = RowData.createFieldGetter(inner, at).getFieldOrNull(row);
            text.append(at == 0 ? before : ",").append(shown(inner, value));
        }
        return text.toString();
    }

    static String shown(LogicalType type, Object value) {
        if (value == null) {
            return "null";
        }
        if (type.is(LogicalTypeRoot.ROW)) {
            return "[" + fields(type, (RowData) value, "") + "]";
        }
        if (type.is(LogicalTypeRoot.ARRAY)) {
            return shown(type.getChildren().get(0), (ArrayData) value);
        }
        if (type.is(LogicalTypeRoot.MAP) || type.is(LogicalTypeRoot.MULTISET)) {
            LogicalType inner = type.is(LogicalTypeRoot.MAP)
                    ? type.getChildren().get(1) : new org.apache.flink.table.types.logical.IntType();
            MapData map = (MapData) value;
            ArrayData keys = map.keyArray();
            var get = ArrayData.createElementGetter(inner);
            TreeMap<String, String> entries = new TreeMap<>();
            for (int at = 0; at < map.size(); at++) {
                String key = keys.isNullAt(at) ? "null" : keys.getString(at).toString();
                entries.put(key, quoted(key) + ":" + shown(inner, get.getElementOrNull(map.valueArray(), at)));
            }
            return "{" + String.join(",", entries.values()) + "}";
        }
        if (value instanceof TimestampData) {
            LocalDateTime time = ((TimestampData) value).toLocalDateTime();
            long micros = Math.addExact(
                    Math.multiplyExact(time.toEpochSecond(ZoneOffset.UTC), 1_000_000L), time.getNano() / 1000);
            return Long.toString(micros);
        }
        if (value instanceof byte[]) {
            return quoted(HexFormat.of().formatHex((byte[]) value));
        }
        if (value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long
                || value instanceof Boolean) {
            return value.toString();
        }
        if (value instanceof StringData) {
            // As bytes of UTF-8, which is what operators get.
            return quoted(new String(((StringData) value).toBytes(), StandardCharsets.UTF_8));
        }
        return quoted(value.toString());
    }

    static String shown(LogicalType element, ArrayData array) {
        var get = ArrayData.createElementGetter(element);
        List<String> parts = new ArrayList<>();
        for (int at = 0; at < array.size(); at++) {
            parts.add(shown(element, get.getElementOrNull(array, at)));
        }
        return "[" + String.join(",", parts) + "]";
    }

    static String quoted(String text) {
        StringBuilder made = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                made.append('\\').append(each);
            } else if (each < ' ' || each > '~') {
                made.append(String.format("\\u%04x", (int) each));
            } else {
                made.append(each);
            }
        }
        return made.append('"').toString();
    }
}
