<?php
namespace WP_MySQL_Layer;

/** Tables of `information_schema` about the server that the driver doesn't have, as columns and rows. */
final class Server_Tables {
	private const ENGINES     = [
		[ 'InnoDB', 'DEFAULT', 'Supports transactions, row-level locking, and foreign keys', 'YES', 'NO', 'YES' ],
		[ 'MyISAM', 'YES', 'MyISAM storage engine', 'NO', 'NO', 'NO' ],
		[ 'MEMORY', 'YES', 'Hash based, stored in memory, useful for temporary tables', 'NO', 'NO', 'NO' ],
	];
	/** Name, default collation, description, bytes of a character. */
	private const CHARACTER_SETS = [
		[ 'ascii', 'ascii_general_ci', 'US ASCII', 1 ],
		[ 'binary', 'binary', 'Binary pseudo charset', 1 ],
		[ 'latin1', 'latin1_swedish_ci', 'cp1252 West European', 1 ],
		[ 'utf8', 'utf8_general_ci', 'UTF-8 Unicode', 3 ],
		[ 'utf8mb3', 'utf8mb3_general_ci', 'UTF-8 Unicode', 3 ],
		[ 'utf8mb4', Schema::COLLATION, 'UTF-8 Unicode', 4 ],
	];
	/** Name, character set, id, whether it is the default, sort length, padding. */
	private const COLLATIONS = [
		[ 'ascii_general_ci', 'ascii', 11, 'Yes', 1, 'PAD SPACE' ],
		[ 'binary', 'binary', 63, 'Yes', 1, 'NO PAD' ],
		[ 'latin1_swedish_ci', 'latin1', 8, 'Yes', 1, 'PAD SPACE' ],
		[ 'latin1_general_ci', 'latin1', 48, '', 1, 'PAD SPACE' ],
		[ 'latin1_bin', 'latin1', 47, '', 1, 'PAD SPACE' ],
		[ 'utf8_bin', 'utf8', 83, '', 1, 'PAD SPACE' ],
		[ 'utf8_general_ci', 'utf8', 33, 'Yes', 1, 'PAD SPACE' ],
		[ 'utf8_unicode_ci', 'utf8', 192, '', 8, 'PAD SPACE' ],
		[ 'utf8_unicode_520_ci', 'utf8', 214, '', 8, 'PAD SPACE' ],
		[ 'utf8mb3_bin', 'utf8mb3', 83, '', 1, 'PAD SPACE' ],
		[ 'utf8mb3_general_ci', 'utf8mb3', 33, 'Yes', 1, 'PAD SPACE' ],
		[ 'utf8mb3_unicode_ci', 'utf8mb3', 192, '', 8, 'PAD SPACE' ],
		[ 'utf8mb4_bin', 'utf8mb4', 46, '', 1, 'PAD SPACE' ],
		[ 'utf8mb4_general_ci', 'utf8mb4', 45, '', 1, 'PAD SPACE' ],
		[ 'utf8mb4_unicode_ci', 'utf8mb4', 224, '', 8, 'PAD SPACE' ],
		[ Schema::COLLATION, 'utf8mb4', 246, 'Yes', 8, 'PAD SPACE' ],
		[ 'utf8mb4_0900_ai_ci', 'utf8mb4', 255, '', 0, 'NO PAD' ],
	];
	/** Tables without rows. */
	private const EMPTY = [
		'events'                   => 'EVENT_CATALOG,EVENT_SCHEMA,EVENT_NAME,DEFINER,TIME_ZONE,EVENT_BODY,EVENT_DEFINITION,EVENT_TYPE,'
			. 'EXECUTE_AT,INTERVAL_VALUE,INTERVAL_FIELD,SQL_MODE,STARTS,ENDS,STATUS,ON_COMPLETION,CREATED,LAST_ALTERED,'
			. 'LAST_EXECUTED,EVENT_COMMENT,ORIGINATOR,CHARACTER_SET_CLIENT,COLLATION_CONNECTION,DATABASE_COLLATION',
		'files'                    => 'FILE_ID,FILE_NAME,FILE_TYPE,TABLESPACE_NAME,TABLE_CATALOG,TABLE_SCHEMA,TABLE_NAME,ENGINE,FREE_EXTENTS,'
			. 'TOTAL_EXTENTS,EXTENT_SIZE,INITIAL_SIZE,MAXIMUM_SIZE,DATA_FREE,STATUS,EXTRA',
		'parameters'               => 'SPECIFIC_CATALOG,SPECIFIC_SCHEMA,SPECIFIC_NAME,ORDINAL_POSITION,PARAMETER_MODE,PARAMETER_NAME,DATA_TYPE,'
			. 'CHARACTER_MAXIMUM_LENGTH,CHARACTER_OCTET_LENGTH,NUMERIC_PRECISION,NUMERIC_SCALE,DATETIME_PRECISION,'
			. 'CHARACTER_SET_NAME,COLLATION_NAME,DTD_IDENTIFIER,ROUTINE_TYPE',
		'routines'                 => 'SPECIFIC_NAME,ROUTINE_CATALOG,ROUTINE_SCHEMA,ROUTINE_NAME,ROUTINE_TYPE,DATA_TYPE,'
			. 'CHARACTER_MAXIMUM_LENGTH,CHARACTER_OCTET_LENGTH,NUMERIC_PRECISION,NUMERIC_SCALE,DATETIME_PRECISION,'
			. 'CHARACTER_SET_NAME,COLLATION_NAME,DTD_IDENTIFIER,ROUTINE_BODY,ROUTINE_DEFINITION,EXTERNAL_NAME,'
			. 'EXTERNAL_LANGUAGE,PARAMETER_STYLE,IS_DETERMINISTIC,SQL_DATA_ACCESS,SQL_PATH,SECURITY_TYPE,CREATED,'
			. 'LAST_ALTERED,SQL_MODE,ROUTINE_COMMENT,DEFINER,CHARACTER_SET_CLIENT,COLLATION_CONNECTION,'
			. 'DATABASE_COLLATION',
		'schema_privileges'        => 'GRANTEE,TABLE_CATALOG,TABLE_SCHEMA,PRIVILEGE_TYPE,IS_GRANTABLE',
		'table_privileges'         => 'GRANTEE,TABLE_CATALOG,TABLE_SCHEMA,TABLE_NAME,PRIVILEGE_TYPE,IS_GRANTABLE',
		'triggers'                 => 'TRIGGER_CATALOG,TRIGGER_SCHEMA,TRIGGER_NAME,EVENT_MANIPULATION,EVENT_OBJECT_CATALOG,EVENT_OBJECT_SCHEMA,'
			. 'EVENT_OBJECT_TABLE,ACTION_ORDER,ACTION_CONDITION,ACTION_STATEMENT,ACTION_ORIENTATION,ACTION_TIMING,'
			. 'ACTION_REFERENCE_OLD_TABLE,ACTION_REFERENCE_NEW_TABLE,ACTION_REFERENCE_OLD_ROW,ACTION_REFERENCE_NEW_ROW,'
			. 'CREATED,SQL_MODE,DEFINER,CHARACTER_SET_CLIENT,COLLATION_CONNECTION,DATABASE_COLLATION',
		'views'                    => 'TABLE_CATALOG,TABLE_SCHEMA,TABLE_NAME,VIEW_DEFINITION,CHECK_OPTION,IS_UPDATABLE,DEFINER,SECURITY_TYPE,'
			. 'CHARACTER_SET_CLIENT,COLLATION_CONNECTION',
	];
	private const PRIVILEGES = [
		...[ 'SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'REFERENCES', 'INDEX', 'ALTER' ],
		...[ 'CREATE TEMPORARY TABLES', 'LOCK TABLES' ],
	];

	private Driver $driver;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}

	/**
	 * Returns a table's columns and rows, or null if there is none of this name (in lower case).
	 *
	 * @return array{string[], mixed[][]}|null
	 */
	public function get( string $name ): ?array {
		if ( isset( self::EMPTY[ $name ] ) ) {
			return [ explode( ',', self::EMPTY[ $name ] ), [] ];
		}
		switch ( $name ) {
			case 'engines':
				return [ [ 'ENGINE', 'SUPPORT', 'COMMENT', 'TRANSACTIONS', 'XA', 'SAVEPOINTS' ], self::ENGINES ];
			case 'character_sets':
				return [ [ 'CHARACTER_SET_NAME', 'DEFAULT_COLLATE_NAME', 'DESCRIPTION', 'MAXLEN' ], self::CHARACTER_SETS ];
			case 'collations':
				return [
					[ 'COLLATION_NAME', 'CHARACTER_SET_NAME', 'ID', 'IS_DEFAULT', 'IS_COMPILED', 'SORTLEN', 'PAD_ATTRIBUTE' ],
					array_map(
						static fn ( array $row ) => [ $row[0], $row[1], $row[2], $row[3], 'Yes', $row[4], $row[5] ],
						self::COLLATIONS
					),
				];
			case 'collation_character_set_applicability':
				return [
					[ 'COLLATION_NAME', 'CHARACTER_SET_NAME' ],
					array_map( static fn ( array $row ) => [ $row[0], $row[1] ], self::COLLATIONS ),
				];
			case 'plugins':
				return [
					[ 'PLUGIN_NAME', 'PLUGIN_VERSION', 'PLUGIN_STATUS', 'PLUGIN_TYPE', 'PLUGIN_LIBRARY', 'PLUGIN_LICENSE' ],
					array_map(
						static fn ( array $engine ) => [ $engine[0], '1.0', 'ACTIVE', 'STORAGE ENGINE', null, 'GPL' ],
						self::ENGINES
					),
				];
			case 'processlist':
				return [
					[ 'ID', 'USER', 'HOST', 'DB', 'COMMAND', 'TIME', 'STATE', 'INFO' ],
					[
						[
							...[ 1, 'root', 'localhost', $this->driver->schema()->database(), 'Query', 0, 'executing' ],
							$this->driver->current_query(),
						],
					],
				];
			case 'user_privileges':
				return [
					[ 'GRANTEE', 'TABLE_CATALOG', 'PRIVILEGE_TYPE', 'IS_GRANTABLE' ],
					array_map(
						static fn ( string $privilege ) => [ "'root'@'localhost'", 'def', $privilege, 'NO' ],
						self::PRIVILEGES
					),
				];
			case 'global_variables':
			case 'session_variables':
				return [ [ 'VARIABLE_NAME', 'VARIABLE_VALUE' ], self::in_capitals( $this->driver->variables()->all() ) ];
			case 'global_status':
			case 'session_status':
				return [ [ 'VARIABLE_NAME', 'VARIABLE_VALUE' ], self::in_capitals( $this->status() ) ];
			default:
				return null;
		}
	}

	private static function in_capitals( array $rows ): array {
		return array_map( static fn ( array $row ) => [ strtoupper( $row[0] ), $row[1] ], $rows );
	}

	/** The server's figures, as far as there are any: those of this session. */
	public function status(): array {
		$since = (int) ( $_SERVER['REQUEST_TIME'] ?? time() );
		return [
			[ 'Aborted_connects', '0' ],
			[ 'Connections', '1' ],
			[ 'Max_used_connections', '1' ],
			[ 'Questions', (string) $this->driver->statement_count() ],
			[ 'Queries', (string) $this->driver->statement_count() ],
			[ 'Slow_queries', '0' ],
			[ 'Threads_cached', '0' ],
			[ 'Threads_connected', '1' ],
			[ 'Threads_created', '1' ],
			[ 'Threads_running', '1' ],
			[ 'Uptime', (string) max( 1, time() - $since ) ],
		];
	}
}
