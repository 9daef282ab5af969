<?php
namespace WP_MySQL_Layer;

use PDO;
use WP_MySQL_On_SQLite;
use WP_SQLite_Information_Schema_Builder;

/** What MySQL knows about the columns of all tables, for rules that depend on types. Read when it is first needed. */
final class Columns {
	public const NUMBER  = 1;
	public const TEXT    = 2;
	public const TIME    = 4;
	public const BINARY  = 8;
	public const INDEXED = 16;
	/** Texts for words of programs, such as types and states, with less than `SHORT_TEXT` letters. */
	public const SHORT = 32;
	/** In addition to a kind: bytes, dates without a time, dates with a time, decimals, and times without a date. */
	public const BYTES   = 64;
	public const DATE    = 128;
	public const MOMENT  = 256;
	public const DECIMAL = 512;
	public const CLOCK   = 1024;
	/** In addition to a kind: members of ENUM and SET. */
	public const MEMBERS = 2048;
	/** In addition to a kind: numbers with a fixed number of digits after the point. */
	public const DIGITS = 4096;

	private const ALL_KINDS = self::NUMBER | self::TEXT | self::TIME | self::BINARY;
	private const ALL_TIMES = self::DATE | self::MOMENT | self::CLOCK;

	private const SHORT_TEXT = 50;
	private const WHOLE_NUMBERS = [ 'tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'bit', 'year' ];

	private const KINDS = [
		'char'       => self::TEXT,
		'varchar'    => self::TEXT,
		'tinytext'   => self::TEXT,
		'text'       => self::TEXT,
		'mediumtext' => self::TEXT,
		'longtext'   => self::TEXT,
		'enum'       => self::TEXT | self::MEMBERS,
		'set'        => self::TEXT | self::MEMBERS,
		'json'       => self::TEXT,
		'date'       => self::TIME | self::DATE,
		'datetime'   => self::TIME | self::MOMENT,
		'timestamp'  => self::TIME | self::MOMENT,
		'time'       => self::TIME | self::CLOCK,
		'year'       => self::NUMBER,
		'decimal'    => self::NUMBER | self::DECIMAL,
		'binary'     => self::BINARY | self::BYTES,
		'varbinary'  => self::BINARY | self::BYTES,
		'tinyblob'   => self::BINARY | self::BYTES,
		'blob'       => self::BINARY | self::BYTES,
		'mediumblob' => self::BINARY | self::BYTES,
		'longblob'   => self::BINARY | self::BYTES,
		'indexed'    => self::INDEXED,
	];

	private Driver $driver;
	private WP_SQLite_Information_Schema_Builder $builder;
	/** @var array<string, int>|null */
	private ?array $names = null;
	/** Whether one of those is of bytes. */
	private bool $has_bytes = false;
	/** The tables with columns of numbers with a fixed number of digits: names in lower case as keys. @var array<string, true> */
	private array $tables_with_digits = [];
	/** Whether tables have been changed on this connection, so that there may be temporary ones. */
	private bool $is_changed = false;
	/** @var array<string, array<string, Column>> */
	private array $tables = [];

	public function __construct( Driver $driver ) {
		$this->driver  = $driver;
		$this->builder = new WP_SQLite_Information_Schema_Builder( WP_MySQL_On_SQLite::RESERVED_PREFIX, $driver->get_connection() );
	}

	/** Call when tables may have changed. */
	public function forget(): void {
		$this->names      = null;
		$this->tables     = [];
		$this->is_changed = true;
	}

	/**
	 * Returns all names of columns (in lower case), each with the kinds of column that have it, and whether one of them is in
	 * an index or short, as bits.
	 *
	 * @return array<string, int>
	 */
	public function names(): array {
		if ( null === $this->names ) {
			$this->names     = [];
			$this->has_bytes = false;
			$this->tables_with_digits = [];
			$this->add_names( false );
			if ( $this->is_changed && $this->builder->temporary_table_exists( $this->builder->get_table_name( true, 'columns' ) ) ) {
				$this->add_names( true );
			}
		}
		return $this->names;
	}

	private function add_names( bool $are_temporary ): void {
		$rows = $this->driver->execute_sqlite_query(
			'SELECT lower(COLUMN_NAME), DATA_TYPE, min(CHARACTER_MAXIMUM_LENGTH), COLLATION_NAME, max(NUMERIC_SCALE) FROM ' .
			$this->table( $are_temporary, 'columns' ) . ' GROUP BY 1, 2, 4 UNION ALL ' .
			'SELECT lower(COLUMN_NAME), \'indexed\', NULL, NULL, NULL FROM ' . $this->table( $are_temporary, 'statistics' ) . ' GROUP BY 1 UNION ALL ' .
			'SELECT lower(TABLE_NAME), \'table\', NULL, NULL, NULL FROM ' . $this->table( $are_temporary, 'columns' ) . ' WHERE NUMERIC_SCALE > 0 GROUP BY 1'
		);
		foreach ( $rows->fetchAll( PDO::FETCH_NUM ) as [ $name, $type, $length, $collation, $scale ] ) {
			if ( 'table' === $type ) {
				$this->tables_with_digits[ $name ] = true;
				continue;
			}
			$short                = null !== $length && $length < self::SHORT_TEXT ? self::SHORT : 0;
			$digits               = (int) $scale > 0 ? self::DIGITS : 0;
			$kind                 = self::kind( $type, $collation );
			$this->has_bytes      = $this->has_bytes || 0 !== ( $kind & self::BYTES );
			$this->names[ $name ] = ( $this->names[ $name ] ?? 0 ) | $kind | $short | $digits;
		}
	}

	/** Whether a table has columns of bytes. */
	public function have_bytes(): bool {
		return [] !== $this->names() && $this->has_bytes;
	}

	/** The tables with columns of numbers with a fixed number of digits after the point: names in lower case as keys. @return array<string, true> */
	public function tables_with_digits(): array {
		return [] === $this->names() ? [] : $this->tables_with_digits;
	}

	/** Returns a column by its name alone, if all columns with this name are of one kind; else null. */
	public function named( string $name ): ?Column {
		$bits = $this->names()[ $name ] ?? 0;
		$kind = $bits & self::ALL_KINDS;
		$time = $bits & self::ALL_TIMES;
		if ( 0 === $kind || 0 !== ( $kind & ( $kind - 1 ) ) || 0 !== ( $bits & self::BYTES ) || 0 !== ( $time & ( $time - 1 ) ) ) {
			return null;
		}
		$column             = new Column();
		$column->kind       = $kind;
		$column->time       = $time;
		$column->is_indexed = 0 !== ( $bits & self::INDEXED );
		$column->is_short   = 0 !== ( $bits & self::SHORT );
		return $column;
	}

	/** Whether a collation distinguishes upper and lower case: `utf8mb4_bin`, `latin1_general_cs`. */
	public static function knows_case( string $collation ): bool {
		return str_ends_with( $collation, '_bin' ) || str_ends_with( $collation, '_cs' );
	}

	/** `DATE`, `MOMENT` or `CLOCK` for types of dates and times, and 0 for others. */
	public static function time_of( string $type ): int {
		return ( self::KINDS[ $type ] ?? 0 ) & self::ALL_TIMES;
	}

	/** Whether a type is one of bytes. */
	public static function has_bytes( string $type ): bool {
		return 0 !== ( ( self::KINDS[ $type ] ?? 0 ) & self::BYTES );
	}

	private static function kind( string $type, ?string $collation ): int {
		$kind = self::KINDS[ $type ] ?? self::NUMBER;
		$knows_case = null !== $collation && self::knows_case( $collation );
		return $knows_case && 0 !== ( $kind & self::TEXT ) ? ( $kind & ~self::TEXT ) | self::BINARY : $kind;
	}

	/**
	 * Returns the columns of a table by name (in lower case), in their order: none if there is no such table.
	 *
	 * @return array<string, Column>
	 */
	public function of( string $table ): array {
		return $this->tables[ $table ] ??= $this->read( $table );
	}

	private function read( string $table ): array {
		$is_temporary = $this->builder->temporary_table_exists( $table );
		$rows         = $this->driver->execute_sqlite_query(
			'SELECT c.COLUMN_NAME, c.DATA_TYPE, c.COLLATION_NAME, c.CHARACTER_MAXIMUM_LENGTH, c.NUMERIC_SCALE, c.COLUMN_TYPE, EXISTS (SELECT 1 FROM ' . $this->table( $is_temporary, 'statistics' ) .
			' s WHERE s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME AND s.COLUMN_NAME = c.COLUMN_NAME) FROM ' .
			$this->table( $is_temporary, 'columns' ) . ' c WHERE c.TABLE_NAME = ? ORDER BY c.ORDINAL_POSITION',
			[ $table ]
		);
		$columns = [];
		foreach ( $rows->fetchAll( PDO::FETCH_NUM ) as [ $name, $type, $collation, $length, $scale, $full_type, $is_indexed ] ) {
			$column             = new Column();
			$column->name       = $name;
			$bits               = self::kind( $type, $collation );
			$column->kind       = $bits & self::ALL_KINDS;
			$column->time       = $bits & self::ALL_TIMES;
			$column->is_bytes   = 0 !== ( $bits & self::BYTES );
			$column->is_indexed = (bool) $is_indexed;
			$column->is_whole   = in_array( $type, self::WHOLE_NUMBERS, true );
			$column->scale      = $column->is_whole ? 0 : ( 'decimal' === $type ? (int) $scale : null );
			$column->digits     = (int) $scale > 0 ? (int) $scale : null;
			$column->is_short   = null !== $length && $length < self::SHORT_TEXT;
			$column->members    = 0 === ( $bits & self::MEMBERS ) ? null : new Members( $full_type );
			$columns[ strtolower( $name ) ] = $column;
		}
		return $columns;
	}

	private function table( bool $is_temporary, string $name ): string {
		return $this->driver->get_connection()->quote_identifier( $this->builder->get_table_name( $is_temporary, $name ) );
	}
}

/** A column in MySQL's terms. */
final class Column {
	/** One of the kinds above: binary also for texts with a binary collation. */
	public int $kind;
	/** Whether it is in an index, at any position. */
	public bool $is_indexed;
	/** Whether it has less than `SHORT_TEXT` letters. */
	public bool $is_short;
	/** Whether it has bytes, which SQLite takes for different from any text. */
	public bool $is_bytes = false;
	/** `DATE`, `MOMENT` or `CLOCK`; 0 if it has neither dates nor times. */
	public int $time = 0;
	/** Whether it has whole numbers only. Not known of columns found by their name alone. */
	public bool $is_whole = false;
	/** How many digits after the point its numbers have; null if they are not exact. Not known of columns found by name. */
	public ?int $scale = null;
	/** The same for what MySQL shows, also of DOUBLE(17,6); null if there are none. Not known of columns found by name. */
	public ?int $digits = null;
	/** Its name as it is written. Not known of columns found by name. */
	public string $name = '';
	/** Those of ENUM and SET. Not known of columns found by name. */
	public ?Members $members = null;
}
