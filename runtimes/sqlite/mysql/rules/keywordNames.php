<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;

/** `SELECT AUTO_INCREMENT FROM information_schema.TABLES`: the driver takes the column's name for the word in definitions. */
final class Keyword_Names implements Rule {
	public function nodes(): array {
		return [ 'identifierKeyword' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$token = $node->get_first_descendant_token( WP_MySQL_Lexer::AUTO_INCREMENT_SYMBOL );
		return null === $token ? null : $rewriting->sequence( [ Schema::quoted( $token->get_value() ) ], $node );
	}
}
