<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** `text REGEXP pattern`, with NULL, letters beyond ASCII, and BINARY. */
final class Regular_Expressions implements Rule {
	public function nodes(): array {
		return [ 'predicate' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$operation = $node->get_first_child_node( 'predicateOperations' );
		if ( null === $operation || ! $operation->has_child_token( Lexer::REGEXP_SYMBOL ) ) {
			return null;
		}
		$pattern = $operation->get_first_child_node();
		$flags   = Lexer::BINARY_SYMBOL === $pattern->get_first_descendant_token()->id ? "'c'" : "''";
		$call    = $rewriting->call( 'regexp_like', [ $node->get_first_child_node(), $pattern, $flags ], $node );
		return $node->has_child_node( 'notRule' ) ? $rewriting->sequence( [ '(NOT ', $call, ')' ], $node ) : $call;
	}
}
