<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** `MATCH (columns) AGAINST (text)`. */
final class Fulltext implements Rule {
	public function nodes(): array {
		return [ 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$first = $node->get_first_child();
		if ( ! $first instanceof WP_MySQL_Token || Lexer::MATCH_SYMBOL !== $first->id ) {
			return null;
		}
		$columns = $node->get_first_child_node( 'identListArg' )->get_descendant_nodes( 'simpleIdentifier' );
		$options = $node->get_first_child_node( 'fulltextOptions' );
		$boolean = null !== $options && null !== $options->get_first_descendant_token( Lexer::BOOLEAN_SYMBOL );
		$search  = $node->get_first_child_node( 'bitExpr' );
		return $rewriting->call( 'mysql_match', [ $search, $boolean ? '1' : '0', ...$columns ], $node );
	}
}
