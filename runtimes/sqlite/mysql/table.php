<?php
namespace WP_MySQL_Layer;

use PDO;
use WP_MySQL_Lexer;
use WP_MySQL_On_SQLite;
use WP_Parser_Node;

/** A table: in SQLite, and in the driver's record. Changes have to be made within `Driver::atomically`. */
final class Table {
	/** Tables of the record => their columns that contain a table's name. */
	private const NAMES = [
		'tables'                  => [ 'table_name' ],
		'columns'                 => [ 'table_name' ],
		'statistics'              => [ 'table_name' ],
		'table_constraints'       => [ 'table_name' ],
		'referential_constraints' => [ 'table_name', 'referenced_table_name' ],
		'key_column_usage'        => [ 'table_name', 'referenced_table_name' ],
	];

	private Driver $driver;
	public readonly string $name;
	public readonly bool $is_temporary;

	public function __construct( Driver $driver, string $name, bool $is_temporary ) {
		$this->driver       = $driver;
		$this->name         = $name;
		$this->is_temporary = $is_temporary;
	}

	/**
	 * Returns the rows about this table in a table of the record.
	 *
	 * @return array<string, mixed>[]
	 */
	public function rows( string $record ): array {
		$order = 'columns' === $record ? 'ordinal_position' : 'rowid';
		return $this->run( "SELECT * FROM {$this->record( $record )} WHERE table_name = ? ORDER BY $order", $this->name )
			->fetchAll( PDO::FETCH_ASSOC );
	}

	/** Renames the table. */
	public function rename( string $to ): void {
		$existing = $this->is_temporary ? null : $this->driver->schema()->find_permanent( $to );
		if ( null !== $existing && strtolower( $to ) !== strtolower( $this->name ) ) {
			throw Errors::table_exists( $this->driver, $to );
		}
		$this->run( sprintf( 'ALTER TABLE %s.%s RENAME TO %s', $this->place(), Schema::quoted( $this->name ), Schema::quoted( $to ) ) );
		foreach ( self::NAMES as $record => $columns ) {
			foreach ( $columns as $column ) {
				$this->run( "UPDATE {$this->record( $record )} SET $column = ? WHERE $column = ?", $to, $this->name );
			}
		}
		$this->rename_parts( $to );
	}

	/**
	 * Renames the indexes and triggers: their names contain the table's, which may be used again. SQLite can only drop and
	 * create them.
	 */
	private function rename_parts( string $to ): void {
		foreach ( $this->parts( $to ) as [ 'type' => $type, 'name' => $name, 'sql' => $sql ] ) {
			$prefix = str_starts_with( $name, WP_MySQL_On_SQLite::RESERVED_PREFIX ) ? WP_MySQL_On_SQLite::RESERVED_PREFIX : '';
			if ( 0 === stripos( $name, "$prefix{$this->name}_" ) ) {
				$this->rename_part( $type, $name, $prefix . $to . substr( $name, strlen( $prefix . $this->name ) ), $sql );
			}
		}
	}

	/** Returns the indexes and triggers that the driver has created for a table. */
	private function parts( string $table ): array {
		return $this->run(
			"SELECT type, name, sql FROM {$this->place()}.sqlite_master
			WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL",
			$table
		)->fetchAll( PDO::FETCH_ASSOC );
	}

	private function rename_part( string $type, string $name, string $new_name, string $sql ): void {
		$quoted = Schema::quoted( $name );
		// The driver doesn't quote all names.
		$at = strpos( $sql, $quoted );
		if ( false === $at ) {
			$quoted = $name;
			$at     = strpos( $sql, $quoted );
		}
		$this->run( sprintf( 'DROP %s %s.%s', $type, $this->place(), Schema::quoted( $name ) ) );
		$this->run(
			substr( $sql, 0, $at ) . $this->place() . '.' . Schema::quoted( $new_name ) . substr( $sql, $at + strlen( $quoted ) )
		);
	}

	public function rename_column( string $from, string $to ): void {
		$this->run(
			sprintf(
				'ALTER TABLE %s.%s RENAME COLUMN %s TO %s',
				$this->place(),
				Schema::quoted( $this->name ),
				Schema::quoted( $this->column( $from ) ),
				Schema::quoted( $to )
			)
		);
		foreach ( [ 'columns', 'statistics', 'key_column_usage' ] as $record ) {
			$this->run(
				"UPDATE {$this->record( $record )} SET column_name = ? WHERE table_name = ? AND column_name = ?",
				$to,
				$this->name,
				$from
			);
		}
		$this->run(
			"UPDATE {$this->record( 'key_column_usage' )} SET referenced_column_name = ?
			WHERE referenced_table_name = ? AND referenced_column_name = ?",
			$to,
			$this->name,
			$from
		);
	}

	public function rename_key( string $from, string $to ): void {
		$part = array_filter(
			$this->parts( $this->name ),
			fn ( array $part ) => 'index' === $part['type'] && 0 === strcasecmp( $part['name'], "{$this->name}__$from" )
		);
		if ( [] === $part ) {
			throw Errors::create( $this->driver, 1176, "Key '$from' doesn't exist in table '{$this->name}'" );
		}
		[ 'name' => $name, 'sql' => $sql ] = reset( $part );
		$this->rename_part( 'index', $name, "{$this->name}__$to", $sql );
		$places = [
			'statistics'        => 'index_name',
			'table_constraints' => 'constraint_name',
			'key_column_usage'  => 'constraint_name',
		];
		foreach ( $places as $record => $column ) {
			$update = "UPDATE {$this->record( $record )} SET $column = ? WHERE table_name = ? AND $column = ?";
			$this->run( $update, $to, $this->name, $from );
		}
	}

	/** Returns a column's type without its length, in lower case. */
	public function type_of( string $column ): string {
		return $this->described( $column )['DATA_TYPE'];
	}

	/** The row about a column in the record. */
	private function described( string $column ): array {
		return array_column( $this->rows( 'columns' ), null, 'COLUMN_NAME' )[ $this->column( $column ) ];
	}

	/**
	 * Whether a column can have a default value (null: NULL): a download with another one could not be imported. Members of ENUM
	 * and SET are not checked, and TEXT and BLOB have defaults, as on MariaDB.
	 */
	public function may_have_default( string $column, ?string $value ): bool {
		$row = $this->described( $column );
		if ( null === $value || str_contains( $row['EXTRA'], 'auto_increment' ) ) {
			return null === $value && 'YES' === $row['IS_NULLABLE'];
		}
		if ( 'bit' === $row['DATA_TYPE'] ) {
			return 1 === preg_match( "/^b'[01]+'$/D", $value );
		}
		if ( 0 !== Columns::time_of( $row['DATA_TYPE'] ) ) {
			return null !== ( 'time' === $row['DATA_TYPE'] ? Temporal::time( $value ) : Temporal::date( $value ) );
		}
		$empty = trim( Field_Definition::implicit_value_of( $row['DATA_TYPE'] ), "'" );
		return '' === $empty || ( '0' === $empty ? is_numeric( $value ) : 1 === preg_match( '/^\s*\d/', $value ) );
	}

	/** Records a column's default value. `rebuild` has to follow. */
	public function set_default( string $column, ?string $value ): void {
		$this->run(
			"UPDATE {$this->record( 'columns' )} SET column_default = ? WHERE table_name = ? AND column_name = ?",
			$value,
			$this->name,
			$this->column( $column )
		);
	}

	/** Records a column's place: after another one, or (null) first. `rebuild` has to follow. */
	public function move_column( string $column, ?string $after ): void {
		$column = $this->column( $column );
		$names  = array_values( array_diff( array_column( $this->rows( 'columns' ), 'COLUMN_NAME' ), [ $column ] ) );
		$at     = null === $after ? 0 : 1 + (int) array_search( $this->column( $after ), $names, true );
		array_splice( $names, $at, 0, [ $column ] );
		foreach ( $names as $position => $name ) {
			$this->run(
				"UPDATE {$this->record( 'columns' )} SET ordinal_position = ? WHERE table_name = ? AND column_name = ?",
				$position + 1,
				$this->name,
				$name
			);
		}
	}

	/**
	 * Returns a column's name as it is recorded.
	 *
	 * @throws \WP_MySQL_On_SQLite_Exception If there is none.
	 */
	private function column( string $name ): string {
		foreach ( $this->rows( 'columns' ) as [ 'COLUMN_NAME' => $recorded ] ) {
			if ( 0 === strcasecmp( $recorded, $name ) ) {
				return $recorded;
			}
		}
		throw Errors::create( $this->driver, 1054, "Unknown column '$name' in '{$this->name}'" );
	}

	/** Records an option such as `ENGINE=InnoDB`. */
	public function set_option( WP_Parser_Node $option ): void {
		$engine    = $option->get_first_child_node( 'engineRef' );
		$comment   = $option->has_child_token( WP_MySQL_Lexer::COMMENT_SYMBOL )
			? $option->get_first_child_node( 'textStringLiteral' )
			: null;
		$collation = Collations::named_in( $option );
		$changes   = array_filter(
			[
				'engine'          => null === $engine ? null : Schema::name_of( $engine ),
				'table_comment'   => null === $comment ? null : Schema::name_of( $comment ),
				'table_collation' => $collation,
			],
			static fn ( ?string $value ) => null !== $value
		);
		foreach ( $changes as $column => $value ) {
			$this->run( "UPDATE {$this->record( 'tables' )} SET $column = ? WHERE table_name = ?", $value, $this->name );
		}
	}

	/**
	 * Records what keys each column has: the driver forgets it when a column is changed, and takes the first column of a unique key
	 * with several columns for unique.
	 */
	public function settle_keys(): void {
		$statistics = $this->record( 'statistics' );
		$columns    = $this->record( 'columns' );
		$of_column  = "FROM $statistics s WHERE s.table_name = $columns.table_name AND s.column_name = $columns.column_name";
		$single     = "(SELECT COUNT(*) FROM $statistics o WHERE o.table_name = s.table_name AND o.index_name = s.index_name) = 1";
		$this->run(
			"UPDATE $columns SET column_key = CASE
				WHEN EXISTS (SELECT 1 $of_column AND s.index_name = 'PRIMARY') THEN 'PRI'
				WHEN EXISTS (SELECT 1 $of_column AND s.non_unique = 0 AND $single) THEN 'UNI'
				WHEN EXISTS (SELECT 1 $of_column AND s.seq_in_index = 1) THEN 'MUL'
				ELSE '' END
			WHERE table_name = ?",
			$this->name
		);
		// The driver describes a key before it knows that PRIMARY KEY means NOT NULL.
		$this->run(
			"UPDATE $statistics SET nullable = (
				SELECT CASE c.is_nullable WHEN 'YES' THEN 'YES' ELSE '' END FROM $columns c
				WHERE c.table_name = $statistics.table_name AND c.column_name = $statistics.column_name
			) WHERE table_name = ?",
			$this->name
		);
	}

	/** Gives rows without a value in a column MySQL's implicit default, unless the mode is strict. */
	public function fill_empty( string $column, string $literal ): void {
		if ( $this->driver->is_strict() ) {
			return;
		}
		$name = Schema::quoted( $this->column( $column ) );
		$this->driver->driver_query( 'UPDATE ' . Schema::quoted( $this->name ) . " SET $name = $literal WHERE $name IS NULL" );
	}

	/**
	 * Creates the triggers for `ON UPDATE CURRENT_TIMESTAMP`, which set the time if a row has changed otherwise. The driver's
	 * own set it always, even if a statement sets another one, and don't exist for columns that have a default as well.
	 */
	public function settle_triggers(): void {
		$columns = $this->rows( 'columns' );
		foreach ( $columns as [ 'COLUMN_NAME' => $column, 'EXTRA' => $extra ] ) {
			if ( ! str_contains( $extra, 'on update CURRENT_TIMESTAMP' ) ) {
				continue;
			}
			$name    = WP_MySQL_On_SQLite::RESERVED_PREFIX . "{$this->name}_{$column}_on_update";
			$trigger = "{$this->place()}." . Schema::quoted( $name );
			$others  = array_diff( array_column( $columns, 'COLUMN_NAME' ), [ $column ] );
			$changed = array_map(
				static fn ( string $other ) => sprintf( 'NEW.%1$s IS NOT OLD.%1$s', Schema::quoted( $other ) ),
				$others
			);
			$this->run( "DROP TRIGGER IF EXISTS $trigger" );
			$this->run(
				sprintf(
					'CREATE TRIGGER %1$s AFTER UPDATE ON %2$s WHEN NEW.%3$s IS OLD.%3$s AND (%4$s)
					BEGIN UPDATE %2$s SET %3$s = CURRENT_TIMESTAMP WHERE rowid = NEW.rowid; END',
					$trigger,
					Schema::quoted( $this->name ),
					Schema::quoted( $column ),
					[] === $changed ? '0' : implode( ' OR ', $changed )
				)
			);
		}
	}

	/** Returns the last id that AUTO_INCREMENT gave, or null. */
	public function sequence(): ?int {
		$exists = $this->run( "SELECT 1 FROM {$this->place()}.sqlite_master WHERE name = 'sqlite_sequence'" )->fetchColumn();
		$last   = $exists
			? $this->run( "SELECT seq FROM {$this->place()}.sqlite_sequence WHERE name = ?", $this->name )->fetchColumn()
			: false;
		return false === $last ? null : (int) $last;
	}

	/** Lets AUTO_INCREMENT go on where it was before the table was created again. */
	public function restore_sequence( ?int $last ): void {
		$present = $this->sequence();
		if ( null === $last || null !== $present && $present >= $last ) {
			return;
		}
		$table = "{$this->place()}.sqlite_sequence";
		$this->run( "DELETE FROM $table WHERE name = ?", $this->name );
		$this->run(
			"INSERT INTO $table (name, seq) SELECT ?, ? WHERE EXISTS (
				SELECT 1 FROM {$this->record( 'columns' )} WHERE table_name = ? AND extra LIKE '%auto_increment%'
			)",
			$this->name,
			$last,
			$this->name
		);
	}

	/** Creates SQLite's table again, as it is recorded, with its content. */
	public function rebuild(): void {
		$rows = $this->driver->driver_query( 'REPAIR TABLE ' . Schema::quoted( $this->name ) )->fetchAll( PDO::FETCH_ASSOC );
		foreach ( $rows as $row ) {
			if ( 'Error' === $row['Msg_type'] ) {
				throw Errors::create( $this->driver, 1105, $row['Msg_text'] );
			}
		}
	}

	/** Creates an empty table like this one, without its foreign keys, as MySQL does. */
	public function copy_empty( string $name, bool $is_temporary ): self {
		$copy = new self( $this->driver, $name, $is_temporary );
		foreach ( [ 'tables', 'columns', 'statistics' ] as $record ) {
			$copy->add( $record, $this->rows( $record ) );
		}
		$copy->add(
			'table_constraints',
			array_filter(
				$this->rows( 'table_constraints' ),
				static fn ( array $row ) => in_array( $row['CONSTRAINT_TYPE'], [ 'PRIMARY KEY', 'UNIQUE' ], true )
			)
		);
		$this->run(
			sprintf(
				'CREATE TABLE %s.%s AS SELECT * FROM %s.%s WHERE 0',
				$copy->place(),
				Schema::quoted( $name ),
				$this->place(),
				Schema::quoted( $this->name )
			)
		);
		$copy->rebuild();
		$copy->settle_triggers();
		return $copy;
	}

	/**
	 * Records rows that describe another table, for this one.
	 *
	 * @param array<string, mixed>[] $rows
	 */
	private function add( string $record, array $rows ): void {
		foreach ( $rows as $row ) {
			$row = [ 'TABLE_NAME' => $this->name ] + $row;
			unset( $row['CREATE_TIME'], $row['UPDATE_TIME'] );
			$this->run(
				sprintf(
					'INSERT INTO %s (%s) VALUES (%s)',
					$this->record( $record ),
					implode( ', ', array_map( [ Schema::class, 'quoted' ], array_keys( $row ) ) ),
					implode( ', ', array_fill( 0, count( $row ), '?' ) )
				),
				...array_values( $row )
			);
		}
	}

	/** What SQLite calls the database that the table is in. */
	private function place(): string {
		return $this->is_temporary ? 'temp' : 'main';
	}

	public function record( string $table ): string {
		return $this->driver->schema()->record( $this->is_temporary, $table );
	}

	private function run( string $sql, ...$values ): \PDOStatement {
		return $this->driver->execute_sqlite_query( $sql, $values );
	}
}
