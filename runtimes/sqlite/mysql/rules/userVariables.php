<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** `@name` and `@name := value` in expressions. */
final class User_Variables implements Rule {
	public function nodes(): array {
		return [ 'variable', 'simpleExprBody', 'querySpecification', 'queryExpression', 'derivedTable' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		switch ( $node->rule_name ) {
			case 'variable':
				$name = self::name_in( $node );
				return null === $name ? null : $rewriting->call( 'mysql_variable', [ $name ], $node );
			case 'simpleExprBody':
				return $this->assignment( $node, $rewriting );
			case 'querySpecification':
				$this->keep_initial_values( $node, $rewriting );
				return null;
			case 'derivedTable':
				$this->compute_once( $node, $rewriting );
				return null;
			default:
				$this->keep_order( $node, $rewriting );
				return null;
		}
	}

	private function assignment( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		if ( 3 !== count( $children ) || ! $children[1] instanceof WP_Parser_Node || 'equal' !== $children[1]->rule_name ) {
			return null;
		}
		if ( Lexer::ASSIGN_OPERATOR !== $children[1]->get_first_descendant_token()->id ) {
			// `@a = 1`, which assigns only after SET.
			return null;
		}
		$name = self::name_in( $rewriting->original( $children[0] ) );
		return null === $name ? null : $rewriting->call( 'mysql_assign', [ $name, $children[2] ], $node );
	}

	/** The name of a user's variable as a text of SQLite; null for a variable of the server. */
	private static function name_in( WP_Parser_Node $variable ): ?string {
		$user_variable = $variable->get_first_child_node( 'userVariable' );
		if ( null === $user_variable ) {
			return null;
		}
		$tokens = $user_variable->get_descendant_tokens();
		$name   = strtolower( trim( ltrim( end( $tokens )->get_value(), '@' ), "`'\"" ) );
		return "'" . str_replace( "'", "''", $name ) . "'";
	}

	/** `FROM posts, (SELECT @n := 0) AS start`: SQLite leaves out columns that nothing uses, but no conditions. */
	private function keep_initial_values( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$above = end( $rewriting->above );
		if ( $node->has_child_node( 'fromClause' ) || null === $rewriting->nearest( 'derivedTable' ) || false === $above ) {
			return;
		}
		$conditions = [];
		foreach ( $node->get_first_child_node( 'selectItemList' )->get_child_nodes( 'selectItem' ) as $item ) {
			array_push( $conditions, 'AND', $item->get_first_child_node( 'expr' ), "IS NOT x'00'" );
		}
		$kept            = $rewriting->sequence( [ 'WHERE', ...array_slice( $conditions, 1 ) ], $node );
		$kept->rule_name = 'rewritten';
		Tree::set_children( $node, [ ...$node->get_children(), $kept ] );
	}

	/** SQLite leaves out an order without a limit in a table's place, but rows may be numbered in this order. */
	private function keep_order( WP_Parser_Node $node, Rewriting $rewriting ): void {
		if ( ! $node->has_child_node( 'orderClause' ) || $node->has_child_node( 'limitClause' ) || null === $rewriting->nearest( 'derivedTable' ) ) {
			return;
		}
		$limit            = $rewriting->sequence( [ 'LIMIT -1' ], $node );
		$limit->rule_name = 'rewritten';
		Tree::set_children( $node, [ ...$node->get_children(), $limit ] );
	}

	/** `SELECT r FROM (SELECT @n := @n + 1 AS r …) WHERE r > 2`: SQLite would compute `r` for each place that mentions it. */
	private function compute_once( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$children = $node->get_children();
		foreach ( $children as $i => $child ) {
			if ( ! $child instanceof WP_Parser_Node || 'subquery' !== $child->rule_name || ! self::assigns( $child ) ) {
				continue;
			}
			$once           = $rewriting->sequence( [ '(WITH mysql_rows AS MATERIALIZED', $child, 'SELECT * FROM mysql_rows)' ], $child );
			$children[ $i ] = $once;
			Tree::set_children( $node, $children );
		}
	}

	/** Whether a rewritten node sets a variable. */
	public static function assigns( WP_Parser_Node $node ): bool {
		foreach ( $node->get_descendant_tokens() as $token ) {
			if ( 'mysql_assign(' === $token->get_value() ) {
				return true;
			}
		}
		return false;
	}
}
