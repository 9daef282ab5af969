<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** Syntax around SELECT that SQLite lacks: queries in parentheses, options for the server, ROW, TABLE and VALUES. */
final class Queries implements Rule {
	/** Options about the way of execution. */
	private const IGNORED = [
		Lexer::STRAIGHT_JOIN_SYMBOL     => true,
		Lexer::HIGH_PRIORITY_SYMBOL     => true,
		Lexer::SQL_SMALL_RESULT_SYMBOL  => true,
		Lexer::SQL_BIG_RESULT_SYMBOL    => true,
		Lexer::SQL_BUFFER_RESULT_SYMBOL => true,
		Lexer::SQL_NO_CACHE_SYMBOL      => true,
		Lexer::SQL_CACHE_SYMBOL         => true,
	];

	public function nodes(): array {
		return [
			...[ 'selectOption', 'setOperationOption', 'innerJoinType', 'inSumExpr', 'usePartition', 'explicitTable' ],
			...[ 'rowValueExplicit', 'simpleExprBody', 'queryExpressionParens', 'queryExpression' ],
		];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$first = $node->get_first_descendant_token();
		switch ( $node->rule_name ) {
			case 'selectOption':
				return isset( self::IGNORED[ $first->id ] ) ? $rewriting->sequence( [], $node ) : null;
			case 'setOperationOption':
				// The default, which SQLite does not let one say.
				return Lexer::DISTINCT_SYMBOL === $first->id ? $rewriting->sequence( [], $node ) : null;
			case 'innerJoinType':
				return Lexer::STRAIGHT_JOIN_SYMBOL === $first->id ? $rewriting->sequence( [ 'JOIN' ], $node ) : null;
			case 'inSumExpr':
				return $node->has_child_token( Lexer::ALL_SYMBOL ) ? $node->get_first_child_node( 'expr' ) : null;
			case 'usePartition':
				return $rewriting->sequence( [], $node );
			case 'explicitTable':
				return $rewriting->sequence( [ 'SELECT * FROM', $node->get_first_child_node( 'tableRef' ) ], $node );
			case 'rowValueExplicit':
			case 'simpleExprBody':
				return $this->row( $node, $rewriting );
			case 'queryExpressionParens':
				return $this->parentheses( $node, $rewriting );
			default:
				return $this->sorted_parentheses( $node, $rewriting );
		}
	}

	/** `ROW(1, 2)`. */
	private function row( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		$is_row   = $children[0] instanceof WP_MySQL_Token && Lexer::ROW_SYMBOL === $children[0]->id;
		return $is_row ? $rewriting->sequence( array_slice( $children, 1 ), $node ) : null;
	}

	/** A query in parentheses that is no expression and no table. */
	private function parentheses( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( $node->has_child_node( 'queryExpressionParens' ) ) {
			// SQLite has no second ones in `EXISTS ((SELECT 1))`.
			return $node->get_first_child_node( 'queryExpressionParens' );
		}
		if ( in_array( end( $rewriting->above )->rule_name, [ 'subquery', 'queryExpressionOrParens' ], true ) ) {
			return null;
		}
		return $rewriting->sequence( [ 'SELECT * FROM (', $node->get_first_child_node( 'queryExpression' ), ')' ], $node );
	}

	/** `(SELECT …) ORDER BY a`: the driver would take `a` for a column of a table within the parentheses. */
	private function sorted_parentheses( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$order = $node->get_first_child_node( 'orderClause' );
		$query = $node->get_first_child_node( 'queryExpressionBody' ) ?? $node;
		if ( null === $order || count( $query->get_child_nodes( 'queryTerm' ) ) > 1 ) {
			return null;
		}
		$term = $query->get_first_child_node( 'queryTerm' ) ?? $query;
		if ( ! $term->has_child_node( 'queryExpressionParens' ) ) {
			return null;
		}
		$order->rule_name = 'rewritten';
		return null;
	}
}
