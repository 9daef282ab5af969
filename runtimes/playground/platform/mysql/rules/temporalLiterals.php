<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** `DATE '2024-01-31'` and `{d '2024-01-31'}`: dates are texts in SQLite. */
final class Temporal_Literals implements Rule {
	public function nodes(): array {
		return [ 'temporalLiteral', 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( 'temporalLiteral' === $node->rule_name ) {
			return $rewriting->sequence( [ $node->get_first_child_node() ], $node );
		}
		$first = $node->get_first_child();
		if ( ! $first instanceof WP_MySQL_Token || Lexer::OPEN_CURLY_SYMBOL !== $first->id ) {
			return null;
		}
		return $rewriting->sequence( [ $node->get_first_child_node( 'expr' ) ], $node );
	}
}
