<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;

/** `a DIV b`: division without a remainder, towards zero. */
final class Integer_Division implements Rule {
	public function nodes(): array {
		return [ 'bitExpr' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		if ( 3 !== count( $children ) || WP_MySQL_Lexer::DIV_SYMBOL !== ( $children[1]->id ?? null ) ) {
			return null;
		}
		return $rewriting->call( 'mysql_integer_division', [ $children[0], $children[2] ], $node );
	}
}
