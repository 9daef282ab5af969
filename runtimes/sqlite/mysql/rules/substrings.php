<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** SUBSTRING with a position that SQLite understands differently: 0, one before the text's start, or a negative length. */
final class Substrings implements Rule {
	public function nodes(): array {
		return [ 'substringFunction' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$arguments = $node->get_child_nodes();
		foreach ( array_slice( $arguments, 1 ) as $number ) {
			if ( ! $this->is_positive( $number ) ) {
				$arguments[0] = Large_Numbers::whole( $rewriting, $arguments[0] );
				return $rewriting->call( 'mysql_substring', $arguments, $node );
			}
		}
		return null;
	}

	private function is_positive( WP_Parser_Node $node ): bool {
		$tokens = $node->get_descendant_tokens();
		return 1 === count( $tokens ) && Lexer::INT_NUMBER === $tokens[0]->id && (int) $tokens[0]->get_value() > 0;
	}
}
