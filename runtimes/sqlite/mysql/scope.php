<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** Finds out which column of which table a name in a statement means. */
final class Scope {
	/** Nodes between a query and its tables. */
	private const SOURCES = [
		'tableReferenceList'       => true,
		'tableReferenceListParens' => true,
		'tableReference'           => true,
		'tableFactor'              => true,
		'singleTable'              => true,
		'singleTableParens'        => true,
		'joinedTable'              => true,
	];

	/** Nodes that have tables. */
	public const QUERIES = [
		'querySpecification' => true,
		'queryExpression'    => true,
		'updateStatement'    => true,
		'deleteStatement'    => true,
	];

	private Columns $columns;

	public function __construct( Columns $columns ) {
		$this->columns = $columns;
	}

	/**
	 * Returns the column, or null if it is none of a table: a name of a result, or unknown. Names that mean the same kind of
	 * column in all tables need no look at those of the query, and may then be of results.
	 *
	 * @param WP_Parser_Node[] $above The queries around the name, from the outermost.
	 */
	public function column( WP_Parser_Node $column_ref, array $above ): ?Column {
		$parts = self::parts( $column_ref );
		return $this->columns->named( strtolower( end( $parts ) ) ) ?? $this->table_column( $column_ref, $above );
	}

	/** Returns the column of one of the query's tables, or null. @param WP_Parser_Node[] $above */
	public function table_column( WP_Parser_Node $column_ref, array $above ): ?Column {
		$parts = self::parts( $column_ref );
		$name  = strtolower( array_pop( $parts ) );
		$table = array_pop( $parts );
		for ( $i = count( $above ) - 1; $i >= 0; --$i ) {
			foreach ( $this->tables( $above[ $i ] ) as $alias => $source ) {
				if ( null !== $table && 0 !== strcasecmp( (string) $alias, $table ) ) {
					continue;
				}
				$column = is_string( $source ) ? $this->columns->of( $source )[ $name ] ?? null : $this->derived( $source, $name );
				if ( null !== $column ) {
					return $column;
				}
			}
		}
		return null;
	}

	/** The column of a table that a query in the place of a table has under a name. */
	private function derived( WP_Parser_Node $derived, string $name ): ?Column {
		$query = $derived->get_first_descendant_node( 'querySpecification' );
		foreach ( $query?->get_first_child_node( 'selectItemList' )->get_child_nodes( 'selectItem' ) ?? [] as $item ) {
			$column = $item->get_first_descendant_node( 'columnRef' );
			$tokens = $item->get_descendant_tokens();
			$last   = end( $tokens );
			// Rewritten items end with an empty piece.
			$last = '' === $last->get_value() ? $tokens[ count( $tokens ) - 2 ] : $last;
			if ( null === $column || $name !== strtolower( $last->get_value() ) ) {
				continue;
			}
			$is_alone = count( $column->get_descendant_tokens() ) === count( $item->get_first_child_node( 'expr' )?->get_descendant_tokens() ?? [] );
			// It can name only tables of its own.
			return $is_alone ? $this->table_column( $column, [ $query ] ) ?? $this->column( $column, [ $query ] ) : null;
		}
		return null;
	}

	/** The parts of a name: database, table and column, or the last ones. @return string[] */
	public static function parts( WP_Parser_Node $name ): array {
		$values = [];
		foreach ( $name->get_descendant_nodes( 'identifier' ) as $identifier ) {
			$values[] = $identifier->get_first_descendant_token()->get_value();
		}
		return $values;
	}

	/**
	 * Returns the real names of a query's tables, and the queries in the place of tables, by alias.
	 *
	 * @return array<string, string|WP_Parser_Node>
	 */
	public function tables( WP_Parser_Node $query ): array {
		$specification = 'queryExpression' === $query->rule_name ? $query->get_first_descendant_node( 'querySpecification' ) : $query;
		$from          = 'querySpecification' === $specification?->rule_name ? $specification->get_first_child_node( 'fromClause' ) : $specification;
		$tables = [];
		if ( null !== $from ) {
			self::collect( $from, $tables );
		}
		return $tables;
	}

	/** Adds the tables below a node, but not those of queries below it. */
	private static function collect( WP_Parser_Node $node, array &$tables ): void {
		$name  = null;
		$alias = null;
		foreach ( $node->get_child_nodes() as $child ) {
			if ( 'tableRef' === $child->rule_name ) {
				$parts = self::parts( $child );
				$name  = end( $parts );
			} elseif ( 'tableAlias' === $child->rule_name ) {
				$alias = self::parts( $child )[0];
			} elseif ( 'derivedTable' === $child->rule_name && $child->has_child_node( 'tableAlias' ) ) {
				$tables[ self::parts( $child->get_first_child_node( 'tableAlias' ) )[0] ] = $child;
			} elseif ( isset( self::SOURCES[ $child->rule_name ] ) ) {
				self::collect( $child, $tables );
			}
		}
		if ( null !== $name ) {
			$tables[ $alias ?? $name ] = $name;
		}
	}
}
