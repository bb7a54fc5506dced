package db

import "strings"

// pgJSON is the member at a path of a column, as JSON and as text. Both are null where
// there is no such path, whatever there is instead. PostgreSQL 14 cannot ask whether a
// text is JSON, and need not: what a jsonb column holds is.
func pgJSON(column string, path []string) (value, text string) {
	at := "'{" + strings.Join(path, ",") + "}'"
	return column + " #> " + at, column + " #>> " + at
}

func (postgres) jsonString(column string, path ...string) string {
	value, text := pgJSON(column, path)
	return "CASE jsonb_typeof(" + value + ") WHEN 'string' THEN " + text + " END"
}

func (postgres) jsonObject(column string, path ...string) string {
	value, _ := pgJSON(column, path)
	return "jsonb_typeof(" + value + ") = 'object'"
}

// jsonInteger casts no more than a CASE lets through: to numeric what is a number, of
// any size, and to bigint what fits.
func (postgres) jsonInteger(column string, path ...string) string {
	value, text := pgJSON(column, path)
	number := "(" + text + ")::numeric"
	return "CASE WHEN jsonb_typeof(" + value + ") = 'number' THEN CASE" +
		" WHEN " + number + " BETWEEN -9223372036854775808 AND 9223372036854775807" +
		" AND " + number + " = trunc(" + number + ") THEN " + number + "::bigint END END"
}

func (postgres) jsonTruth(column string, path ...string) string {
	value, _ := pgJSON(column, path)
	return "CASE WHEN " + value + " IN ('true'::jsonb, '1'::jsonb) THEN 1 ELSE 0 END"
}

func (postgres) uniqueIndexes() string {
	return `SELECT i.indexrelid::regclass::text, i.indpred IS NULL AND i.indisvalid, a.attname::text
FROM pg_index AS i
CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (attnum, place)
JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = to_regclass($1) AND i.indisunique AND k.place <= i.indnkeyatts
ORDER BY i.indexrelid, k.place`
}
