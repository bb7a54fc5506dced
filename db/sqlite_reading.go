package db

import "strings"

// sqliteJSON is a column and a path in it as arguments of a JSON function. Where checks
// were off, a document may be anything, and such a function fails on what is no JSON.
func sqliteJSON(column string, path []string) string {
	return "CASE WHEN json_valid(" + column + ") THEN " + column + ` END, '$."` + strings.Join(path, `"."`) + `"'`
}

func (*sqlite) jsonString(column string, path ...string) string {
	at := sqliteJSON(column, path)
	return "CASE json_type(" + at + ") WHEN 'text' THEN json_extract(" + at + ") END"
}

func (*sqlite) jsonObject(column string, path ...string) string {
	return "json_type(" + sqliteJSON(column, path) + ") = 'object'"
}

// jsonInteger takes an integer as it is. SQLite reads every other number, and an
// integer of more than 64 bits, as a float. The cast of one beyond those bits is the
// greatest or least integer, which is not equal to it: the two compare exactly.
func (*sqlite) jsonInteger(column string, path ...string) string {
	at := sqliteJSON(column, path)
	value := "json_extract(" + at + ")"
	return "CASE WHEN json_type(" + at + ") IN ('integer', 'real') THEN CASE" +
		" WHEN typeof(" + value + ") = 'integer' THEN " + value +
		" WHEN " + value + " = CAST(" + value + " AS INTEGER) THEN CAST(" + value + " AS INTEGER) END END"
}

func (*sqlite) jsonTruth(column string, path ...string) string {
	at := sqliteJSON(column, path)
	return "CASE WHEN json_type(" + at + ") IN ('true', 'integer', 'real') AND json_extract(" + at + ") = 1 THEN 1 ELSE 0 END"
}

func (*sqlite) uniqueIndexes() string {
	return `SELECT l.name, l.partial = 0, i.name
FROM pragma_index_list($1) AS l, pragma_index_info(l.name) AS i
WHERE l."unique" = 1 AND i.name IS NOT NULL
ORDER BY l.name, i.seqno`
}
