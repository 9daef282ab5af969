<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;

/** `DELETE a FROM posts AS a JOIN …`: the driver does not find a table by a name after `AS`. */
final class Deleted_Tables implements Rule {
	public function nodes(): array {
		return [ 'tableAlias' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		if ( count( $children ) > 1 && WP_MySQL_Lexer::AS_SYMBOL === ( $children[0]->id ?? null ) ) {
			Tree::set_children( $node, array_slice( $children, 1 ) );
		}
		return null;
	}
}
