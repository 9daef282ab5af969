<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/**
 * `SELECT @n := @n + 1, name FROM posts ORDER BY date`: SQLite computes the list before it sorts, and would number rows in the
 * order of the table. So the table is sorted first, if it is the only one, and the order is one of its columns.
 */
final class Variable_Order implements Rule {
	private const SORTED = '`mysql_sorted`';

	public function nodes(): array {
		return [ 'queryExpression' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$order = $node->get_first_child_node( 'orderClause' );
		$query = self::only_query( $node );
		if ( null === $order || null === $query || ! User_Variables::assigns( $query->get_first_child_node( 'selectItemList' ) ) ) {
			return null;
		}
		$table = self::only_table( $query );
		if ( null === $table ) {
			return null;
		}
		$name    = $rewriting->driver->schema()->name_in( $table->get_first_child_node( 'tableRef' ) );
		$alias   = $table->get_first_child_node( 'tableAlias' );
		$alias   = null === $alias ? $name : Schema::name_of( $alias->get_first_child_node( 'identifier' ) );
		$columns = array_map( 'strtolower', array_column( $rewriting->driver->schema()->columns_of( $name ), 'COLUMN_NAME' ) );
		$results = array_map(
			static fn ( $result ) => strtolower( Schema::name_of( $result->get_first_descendant_node( 'identifier' ) ?? $result ) ),
			$query->get_first_child_node( 'selectItemList' )->get_descendant_nodes( 'selectAlias' )
		);
		if ( ! self::is_of_table( $order, $alias, array_diff( $columns, $results ), $rewriting ) ) {
			return null;
		}
		$where  = $query->get_first_child_node( 'whereClause' );
		$inside = null !== $where && self::is_of_table( $where, $alias, $columns, $rewriting );
		$this->sort( $table, Schema::quoted( $alias ), $inside ? [ $where, $order ] : [ $order ], $query, $rewriting );
		self::remove( $node, $order );
		if ( $inside ) {
			self::remove( $query, $where );
		}
		return null;
	}

	/** Puts the sorted rows in the place of the table. @param WP_Parser_Node[] $clauses */
	private function sort( WP_Parser_Node $table, string $alias, array $clauses, WP_Parser_Node $query, Rewriting $rewriting ): void {
		$rows    = [ 'SELECT * FROM', $table->get_first_child_node( 'tableRef' ), 'AS', $alias, ...$clauses ];
		$parts   = [ '( WITH', self::SORTED, 'AS MATERIALIZED (', ...$rows, ') SELECT * FROM', self::SORTED, ') AS', $alias ];
		$sorted  = $rewriting->sequence( $parts, $table );
		$factors = $query->get_first_child_node( 'fromClause' )->get_descendant_nodes( 'tableFactor' );
		foreach ( $factors as $factor ) {
			if ( $table === $factor->get_first_child_node( 'singleTable' ) ) {
				$sorted->rule_name = 'rewritten';
				Tree::set_children( $factor, [ $sorted ] );
			}
		}
	}

	/** The SELECT that the query consists of; null if it is a union, or has groups or options. */
	private static function only_query( WP_Parser_Node $node ): ?WP_Parser_Node {
		$query = $node->get_first_child_node( 'queryExpressionBody' );
		while ( null !== $query && 'querySpecification' !== $query->rule_name ) {
			$query = 1 === count( $query->get_children() ) ? $query->get_first_child_node() : null;
		}
		foreach ( [ 'selectOption', 'groupByClause', 'havingClause', 'windowClause' ] as $name ) {
			$query = null === $query || $query->has_child_node( $name ) ? null : $query;
		}
		return null !== $query?->get_first_child_node( 'selectItemList' )->get_first_descendant_node( 'sumExpr' ) ? null : $query;
	}

	/** The only table that the query reads, next to queries in the place of tables, which set variables; null if there are several. */
	private static function only_table( WP_Parser_Node $query ): ?WP_Parser_Node {
		$from = $query->get_first_child_node( 'fromClause' )?->get_first_child_node( 'tableReferenceList' );
		if ( null === $from || null === $from->get_first_descendant_node( 'singleTable' ) ) {
			return null;
		}
		$tables = [];
		foreach ( $from->get_descendant_nodes( 'tableFactor' ) as $factor ) {
			$tables = [ ...$tables, ...$factor->get_child_nodes( 'singleTable' ) ];
		}
		return 1 === count( $tables ) ? $tables[0] : null;
	}

	/** Whether an expression has columns of the table only, and no variables. @param string[] $columns Names in lower case. */
	private static function is_of_table( WP_Parser_Node $node, string $alias, array $columns, Rewriting $rewriting ): bool {
		$references = $node->get_descendant_nodes( 'columnRef' );
		foreach ( $references as $reference ) {
			$parts = Scope::parts( $reference );
			if ( ! in_array( strtolower( array_pop( $parts ) ), $columns, true ) || 0 !== strcasecmp( array_pop( $parts ) ?? $alias, $alias ) ) {
				return false;
			}
		}
		$variables = array_filter(
			$node->get_descendant_tokens(),
			static fn ( $token ) => in_array( $token->get_value(), [ 'mysql_assign(', 'mysql_variable(' ], true )
		);
		return [] !== $references && [] === $variables && null === $node->get_first_descendant_node( 'subquery' );
	}

	private static function remove( WP_Parser_Node $parent, WP_Parser_Node $child ): void {
		Tree::set_children( $parent, array_values( array_filter( $parent->get_children(), static fn ( $each ) => $each !== $child ) ) );
	}
}
