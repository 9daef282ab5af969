<?php
namespace WP_MySQL_Layer;

use PDO;
use WP_MySQL_On_SQLite;
use WP_MySQL_Token;
use WP_Parser_Node;
use WP_SQLite_Information_Schema_Builder;

/** The driver's record of the tables in MySQL's terms. */
final class Schema {
	/** WordPress's choice on MySQL and MariaDB, which both have it. */
	public const COLLATION = 'utf8mb4_unicode_520_ci';

	private Driver $driver;
	private WP_SQLite_Information_Schema_Builder $builder;
	private ?string $database = null;
	private bool $is_settled = false;
	/** Columns by table, as far as they have been asked for. @var array<string, array[]> */
	private array $columns = [];

	public function __construct( Driver $driver ) {
		$this->driver  = $driver;
		$this->builder = new WP_SQLite_Information_Schema_Builder(
			WP_MySQL_On_SQLite::RESERVED_PREFIX,
			$driver->get_connection()
		);
	}

	/** Returns a table, or null if there is none. A temporary table hides another one with the same name. */
	public function find( string $name ): ?Table {
		if ( $this->builder->temporary_table_exists( $name ) ) {
			return new Table( $this->driver, $name, true );
		}
		return $this->find_permanent( $name );
	}

	/** Returns a table that is not temporary, or null. */
	public function find_permanent( string $name ): ?Table {
		$table = new Table( $this->driver, $name, false );
		$rows  = $table->rows( 'tables' );
		return [] === $rows ? null : new Table( $this->driver, $rows[0]['TABLE_NAME'], false );
	}

	/**
	 * Returns the table that a node names.
	 *
	 * @throws \WP_MySQL_On_SQLite_Exception If there is none.
	 */
	public function get( WP_Parser_Node $node ): Table {
		$name = $this->name_in( $node );
		return $this->find( $name ) ?? throw Errors::no_table( $this->driver, $name );
	}

	/**
	 * Returns a table's columns as they are recorded, or none if there is no such table.
	 *
	 * @return array<string, mixed>[]
	 */
	public function columns_of( string $table ): array {
		$found = $this->columns[ strtolower( $table ) ] ?? $this->find( $table )?->rows( 'columns' );
		return $this->columns[ strtolower( $table ) ] = $found ?? [];
	}

	/** Clears the cached schema, because a CREATE or ALTER may change it. */
	public function forget(): void {
		$this->columns = [];
	}

	/** Returns the quoted name of a table of the record. */
	public function record( bool $is_temporary, string $table ): string {
		return self::quoted( $this->builder->get_table_name( $is_temporary, $table ) );
	}

	/** Creates the record of temporary tables. The driver creates it with the first one, and reads it before. */
	public function prepare_temporary(): void {
		$this->builder->ensure_temporary_information_schema_tables();
	}

	/** Quotes a name for MySQL and SQLite. */
	public static function quoted( string $name ): string {
		return '`' . str_replace( '`', '``', $name ) . '`';
	}

	/**
	 * Returns the table's name of a node such as `tableName` or `tableRef`.
	 *
	 * @throws \WP_MySQL_On_SQLite_Exception If it is in another database.
	 */
	public function name_in( WP_Parser_Node $node ): string {
		$names = array_map( [ self::class, 'name_of' ], $node->get_descendant_nodes( 'identifier' ) );
		$table = array_pop( $names );
		if ( [] !== $names && strtolower( $names[0] ) !== strtolower( $this->database() ) ) {
			throw Errors::unknown_database( $this->driver, $names[0] );
		}
		return $table;
	}

	/** Returns the name of the database. */
	public function database(): string {
		return $this->database ??= $this->driver->driver_query( 'SELECT SCHEMA_NAME FROM information_schema.SCHEMATA' )
			->fetchAll( PDO::FETCH_COLUMN )[1];
	}

	/** Returns the name that a node consists of. */
	public static function name_of( WP_Parser_Node $node ): string {
		$token = $node->get_first_descendant_token();
		return $token instanceof WP_MySQL_Token ? $token->get_value() : '';
	}

	/** Returns the last part of a name such as `table`.`column`. */
	public static function last_name_of( WP_Parser_Node $node ): string {
		$names = $node->get_descendant_nodes( 'identifier' );
		return self::name_of( $names[ count( $names ) - 1 ] );
	}

	/**
	 * Gives tables that were created with the driver's default collation one that MariaDB has as well, so that exports can be
	 * imported there. Once per connection, before anyone looks.
	 */
	public function settle_collations(): void {
		if ( $this->is_settled ) {
			return;
		}
		$this->is_settled = true;
		$places = [
			'tables'   => 'table_collation',
			'columns'  => 'collation_name',
			'schemata' => 'default_collation_name',
		];
		foreach ( $places as $record => $column ) {
			$name  = $this->record( false, $record );
			$found = $this->driver->execute_sqlite_query( "SELECT DISTINCT $column FROM $name WHERE $column LIKE '%0900%'" );
			foreach ( $found->fetchAll( PDO::FETCH_COLUMN ) as $collation ) {
				$this->driver->execute_sqlite_query(
					"UPDATE $name SET $column = ? WHERE $column = ?",
					[ self::common_collation( $collation ), $collation ]
				);
			}
		}
	}

	/** Returns a collation that MySQL and MariaDB both have, of the same kind. */
	public static function common_collation( string $collation ): string {
		if ( ! str_contains( $collation, '_0900_' ) && ! str_contains( $collation, '_uca1400_' ) ) {
			return $collation;
		}
		return Columns::knows_case( $collation ) ? 'utf8mb4_bin' : self::COLLATION;
	}
}
