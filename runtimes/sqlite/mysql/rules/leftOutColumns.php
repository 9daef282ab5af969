<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/**
 * Adds columns that an INSERT or REPLACE omits, with their MySQL defaults. The driver would store `''` in any NOT NULL column, even
 * if its default is `'0'` or the first value of an ENUM, and would reject binary columns.
 */
final class Left_Out_Columns implements Rule {
	private const BYTES = [ 'binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob' ];
	private const TEXTS = [ 'char', 'varchar', 'enum', 'set' ];

	public function nodes(): array {
		return [ 'insertFromConstructor', 'insertQueryExpression', 'insertStatement', 'replaceStatement' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$is_statement = 'insertStatement' === $node->rule_name || 'replaceStatement' === $node->rule_name;
		$list         = $is_statement ? $node->get_first_child_node( 'updateList' ) : null;
		if ( null !== $list ) {
			$elements = $list->get_child_nodes( 'updateElement' );
			$names    = array_map( static fn ( $element ) => Assigned_Columns::name_of( $element->get_first_child_node( 'columnRef' ) ), $elements );
			$added    = $this->values( $node, $names, $rewriting );
			$this->append( $list, $added, fn ( $column ) => $this->example( 'INSERT INTO t SET %s = 1', 'updateList', $column, $rewriting ) );
		}
		$fields = $is_statement ? null : $node->get_first_child_node( 'fields' );
		if ( null !== $fields ) {
			$this->add_to_fields( $node, $fields, $rewriting );
		}
		return null;
	}

	private function add_to_fields( WP_Parser_Node $node, WP_Parser_Node $fields, Rewriting $rewriting ): void {
		$added = $this->values( $rewriting->nearest( 'insertStatement', 'replaceStatement' ), Assigned_Columns::names( $node ), $rewriting );
		$rows  = $node->get_first_child_node( 'insertValues' )?->get_first_child_node( 'valueList' )->get_child_nodes( 'values' ) ?? [];
		$query = [] === $added || [] !== $rows ? null : $this->plain_query( $node );
		if ( [] !== $added && [] !== $rows ) {
			$value = $this->example( 'INSERT INTO t VALUES (1)', 'values', '', $rewriting );
			foreach ( $rows as $row ) {
				$this->append( $row, $added, static fn () => clone $value );
			}
		}
		if ( null !== $query ) {
			$this->append( $query->get_first_child_node( 'selectItemList' ), $added, fn ( $column ) => $this->example( 'SELECT 1 AS %s', 'selectItemList', $column, $rewriting ) );
		}
		if ( [] !== $rows || null !== $query ) {
			$this->append( $fields, $added, fn ( $column ) => $this->example( 'INSERT INTO t (%s) VALUES (1)', 'fields', $column, $rewriting ) );
		}
	}

	/** The only SELECT of a query, or null. */
	private function plain_query( WP_Parser_Node $node ): ?WP_Parser_Node {
		$queries = $node->get_descendant_nodes( 'querySpecification' );
		$outside = array_filter( $queries, static fn ( WP_Parser_Node $query ) => [] === array_filter( $queries, static fn ( $other ) => $other !== $query && in_array( $query, $other->get_descendant_nodes( 'querySpecification' ), true ) ) );
		return 1 === count( $outside ) ? reset( $outside ) : null;
	}

	/**
	 * Returns the item of a list in a statement.
	 *
	 * @param string $statement With the place of a column's name, and 1 in the place of a value.
	 * @param string $list      The name of the list.
	 */
	private function example( string $statement, string $list, string $column, Rewriting $rewriting ): WP_Parser_Node {
		return $rewriting->driver->parsed( sprintf( $statement, Schema::quoted( $column ) ) )->get_first_descendant_node( $list )->get_first_child_node();
	}

	/**
	 * Appends an item for each column to a list.
	 *
	 * @param array<string, string>            $added   Values, in SQLite's language, by column.
	 * @param callable(string): WP_Parser_Node $item_of Makes the item of a column, without its value.
	 */
	private function append( WP_Parser_Node $list, array $added, callable $item_of ): void {
		$children = $list->get_children();
		foreach ( $added as $column => $value ) {
			$item = $item_of( $column );
			$expr = 'expr' === $item->rule_name ? $item : $item->get_first_child_node( 'expr' );
			if ( null !== $expr ) {
				Tree::set_children( $expr, [ new Fragment( $value, $list->get_start(), 0 ) ] );
			}
			array_push( $children, new \WP_MySQL_Token( Lexer::COMMA_SYMBOL, 0, 1, ',', false ), $item );
		}
		Tree::set_children( $list, $children );
	}

	/**
	 * The values, in SQLite's language, of the columns that a statement leaves out and the driver would get wrong, by name.
	 *
	 * @param string[] $names The columns that it has, in lower case.
	 * @return array<string, string>
	 */
	private function values( WP_Parser_Node $statement, array $names, Rewriting $rewriting ): array {
		if ( $rewriting->driver->is_strict() ) {
			return [];
		}
		$schema = $rewriting->driver->schema();
		$values = [];
		foreach ( $schema->columns_of( $schema->name_in( $statement->get_first_child_node( 'tableRef' ) ) ) as $column ) {
			$value = in_array( strtolower( $column['COLUMN_NAME'] ), $names, true ) ? null : $this->value( $column );
			if ( null !== $value ) {
				$values[ $column['COLUMN_NAME'] ] = "CAST(x'" . bin2hex( $value ) . "' AS " . ( in_array( $column['DATA_TYPE'], self::BYTES, true ) ? 'BLOB)' : 'TEXT)' );
			}
		}
		return $values;
	}

	/** The value that the driver would get wrong, or null. */
	private function value( array $column ): ?string {
		$default     = $column['COLUMN_DEFAULT'];
		$is_nullable = 'YES' === $column['IS_NULLABLE'];
		if ( str_contains( $column['EXTRA'], 'GENERATED' ) || ( null === $default && $is_nullable ) ) {
			return null;
		}
		if ( in_array( $column['DATA_TYPE'], self::BYTES, true ) ) {
			return null === $default ? '' : Column_Definitions::bytes_of_default( $default );
		}
		if ( $is_nullable || ! in_array( $column['DATA_TYPE'], self::TEXTS, true ) ) {
			return null;
		}
		$is_enum = null === $default && 'enum' === $column['DATA_TYPE'];
		return $is_enum ? self::first_of( $column['COLUMN_TYPE'] ) : ( '0' === $default ? '0' : null );
	}

	/** The first value of `enum('a','b')`. */
	private static function first_of( string $type ): ?string {
		return 1 === preg_match( "/^enum\('((?:[^']|'')*)'/i", $type, $found ) ? str_replace( "''", "'", $found[1] ) : null;
	}
}
