<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;
use WP_SQLite_Information_Schema_Builder;

/**
 * The collations of tables and columns, as exports contain them. The driver takes a column's for its table's, gives columns
 * that name none MySQL 8's own, which MariaDB does not have, and ignores changes.
 */
final class Collations {
	private const TEXTS = "('char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set')";

	private Driver $driver;
	private Table $table;

	public function __construct( Driver $driver, Table $table ) {
		$this->driver = $driver;
		$this->table  = $table;
	}

	/** Corrects what the driver has recorded for `CREATE TABLE`. */
	public function created( WP_Parser_Node $create ): void {
		$of_table = null;
		foreach ( $create->get_child_nodes( 'createTableOptions' ) as $options ) {
			$of_table = self::named_in( $options ) ?? $of_table;
		}
		$of_table ??= Schema::COLLATION;
		$this->set_table( $of_table );
		$this->defined( $create, $of_table );
	}

	private function defined( WP_Parser_Node $node, string $of_table ): void {
		foreach ( $node->get_descendant_nodes( 'columnDefinition' ) as $definition ) {
			$name = Schema::last_name_of( $definition->get_first_child_node( 'fieldIdentifier' ) );
			$this->set_columns( self::of_field( $definition ) ?? $of_table, $name );
		}
	}

	/** Corrects what the driver has recorded for columns that `ALTER TABLE` adds or changes. */
	public function altered( WP_Parser_Node $item ): void {
		$of_table = $this->table->rows( 'tables' )[0]['TABLE_COLLATION'];
		$this->defined( $item, $of_table );
		$field = $item->get_first_child_node( 'fieldDefinition' );
		if ( null !== $field ) {
			$names = array_map( [ Schema::class, 'name_of' ], $item->get_child_nodes( 'identifier' ) );
			$name  = $names[0] ?? Schema::last_name_of( $item->get_first_child_node( 'fieldIdentifier' ) );
			$this->set_columns( self::of_field( $field ) ?? $of_table, $name );
		}
	}

	/** `CONVERT TO CHARACTER SET`: the table and all its texts. */
	public function convert( WP_Parser_Node $item ): void {
		$collation = self::named_in( $item ) ?? Schema::COLLATION;
		$this->set_table( $collation );
		$this->set_columns( $collation, null );
	}

	private function set_table( string $collation ): void {
		$this->driver->execute_sqlite_query(
			"UPDATE {$this->table->record( 'tables' )} SET table_collation = ? WHERE table_name = ?",
			[ $collation, $this->table->name ]
		);
	}

	/** Sets the collation of a column, or (null) of all, unless they have other types than text. */
	private function set_columns( string $collation, ?string $column ): void {
		$this->driver->execute_sqlite_query(
			"UPDATE {$this->table->record( 'columns' )} SET collation_name = ?, character_set_name = ?
			WHERE table_name = ? AND column_name = COALESCE(?, column_name) AND data_type IN " . self::TEXTS,
			[ $collation, self::set_of( $collation ), $this->table->name, $column ]
		);
	}

	private static function of_field( WP_Parser_Node $field ): ?string {
		$has_own = null !== $field->get_first_descendant_node( 'charsetWithOptBinary' )
			|| null !== $field->get_first_descendant_node( 'collationName' );
		return $has_own ? self::named_in( $field ) : null;
	}

	/** Returns the collation that a part of a statement names, or that of the character set it names, or null. */
	public static function named_in( WP_Parser_Node $node ): ?string {
		$collation = $node->get_first_descendant_node( 'collationName' );
		if ( null !== $collation ) {
			return Schema::common_collation( strtolower( Schema::name_of( $collation ) ) );
		}
		$set = $node->get_first_descendant_node( 'charsetName' );
		if ( null === $set ) {
			return null;
		}
		$name = strtolower( Schema::name_of( $set ) );
		if ( 'default' === $name || 'utf8mb4' === $name ) {
			return $node->get_first_descendant_token( WP_MySQL_Lexer::BINARY_SYMBOL ) ? 'utf8mb4_bin' : Schema::COLLATION;
		}
		$name = 'utf8mb3' === $name ? 'utf8' : $name;
		return WP_SQLite_Information_Schema_Builder::CHARSET_DEFAULT_COLLATION_MAP[ $name ] ?? null;
	}

	private static function set_of( string $collation ): string {
		return 'binary' === $collation ? 'binary' : explode( '_', $collation )[0];
	}
}
