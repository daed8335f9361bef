# input: tables_mysql_innodb.sql
# language: SQL
# fault: SQLite 3.40 refuses a table of Quartz 2.3.2 for MySQL for its ENGINE=InnoDB, and takes it without
. "${0%/*}/common.sh"
case $1 in
fetch) unzip -p "$(jar org.quartz-scheduler:quartz:2.3.2)" org/quartz/impl/jdbcjobstore/tables_mysql_innodb.sql >"$2/tables_mysql_innodb.sql" ;;
test)
    sqlite3 :memory: <"$2" 2>&1 | grep -q 'near "=": syntax error' || exit 1
    tables='SELECT count(*) FROM sqlite_schema;'
    with=$({ cat "$2" && echo ";$tables"; } | sqlite3 :memory: 2>/dev/null)
    without=$({ sed 's/ENGINE=InnoDB//' "$2" && echo ";$tables"; } | sqlite3 :memory: 2>/dev/null)
    [ "${with:-0}" -lt "${without:-0}" ]
    ;;
esac
