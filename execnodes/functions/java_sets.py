"""Character sets that Java has and Spark has not, by Java's own URLEncoder and URLDecoder, which know them all.

What is no character of a set is a question mark, what are no bytes of one the replacement character, as in Java.
The calls must not be within a lambda function of Spark, so that operands are not shared.
"""

from __future__ import annotations

from execnodes.lowering.spark_sql import text_literal

JAVA_SETS = {
    "GBK": ("CP936", "WINDOWS-936"),
    "GB18030": ("GB18030-2022",),
    "GB2312": ("EUC_CN", "EUC-CN", "X-EUC-CN", "EUCCN", "GB2312-80", "GB2312-1980"),
    "BIG5": ("CSBIG5",),
    "BIG5-HKSCS": ("BIG5_HKSCS", "BIG5HK", "BIG5HKSCS"),
    "SHIFT_JIS": ("SJIS", "SHIFT-JIS", "MS_KANJI", "X-SJIS", "CSSHIFTJIS"),
    "WINDOWS-31J": ("MS932", "WINDOWS-932", "CSWINDOWS31J"),
    "EUC-JP": ("EUC_JP", "EUCJIS", "EUCJP", "X-EUCJP", "X-EUC-JP"),
    "EUC-KR": ("EUC_KR", "EUCKR", "KSC5601", "KSC_5601", "KS_C_5601-1987", "KSC5601-1987", "5601"),
    "X-JOHAB": ("JOHAB", "KSC5601-1992", "KSC5601_1992", "MS1361"),
    "X-WINDOWS-949": ("MS949", "WINDOWS949", "WINDOWS-949", "MS_949"),
    "X-WINDOWS-950": ("MS950", "WINDOWS-950"),
    "X-EUC-TW": ("EUC_TW", "EUCTW", "CNS11643", "EUC-TW"),
    "CESU-8": ("CESU8", "CSCESU-8"),
    "TIS-620": ("TIS620", "TIS620.2533"),
    "WINDOWS-874": ("X-WINDOWS-874", "MS874", "MS-874"),
    "WINDOWS-1255": ("CP1255",),
    "WINDOWS-1256": ("CP1256",),
    "WINDOWS-1258": ("CP1258",),
    "ISO-8859-3": ("ISO8859_3", "ISO8859-3", "ISO_8859-3", "8859_3", "LATIN3"),
    "ISO-8859-6": ("ISO8859_6", "ISO8859-6", "ISO_8859-6", "8859_6", "ARABIC"),
    "ISO-8859-8": ("ISO8859_8", "ISO8859-8", "ISO_8859-8", "8859_8", "HEBREW"),
    "IBM852": ("CP852", "IBM-852", "852"),
    "IBM866": ("CP866", "IBM-866", "866"),
    "KOI8-U": ("KOI8_U",),
    "X-MACROMAN": ("MACROMAN",),
}
"""Names of Java, in capitals, and others that Java has for them; all write ASCII as ASCII."""


def encode_by_java(text: str, name: str) -> str:
    """Spark SQL of the bytes of a text: escaped in the set, and read as a text of bytes. Of NULL Java's call fails."""
    escaped = f"try_reflect('java.net.URLEncoder', 'encode', {text}, {text_literal(name)})"
    return f"encode(try_reflect('java.net.URLDecoder', 'decode', {escaped}, 'ISO-8859-1'), 'ISO-8859-1')"


def decode_by_java(value: str, name: str) -> str:
    """Spark SQL of the text that bytes are: all bytes are escaped, so that Java reads them at once."""
    escaped = f"regexp_replace(hex({value}), '(..)', '%$1')"
    return f"try_reflect('java.net.URLDecoder', 'decode', {escaped}, {text_literal(name)})"
