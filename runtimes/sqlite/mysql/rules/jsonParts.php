<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/**
 * JSON within JSON. A function's result is a text in SQLite: to make it a part of a document, and not a string in it, it
 * is marked before it is passed on.
 */
final class Json_Parts {
	/** Functions that take parts of documents. */
	private const TAKERS = [ 'json_array', 'json_array_append', 'json_array_insert', 'json_insert', 'json_object', 'json_replace', 'json_set' ];
	/** Functions that return documents. */
	private const GIVERS = [
		...self::TAKERS,
		...[ 'json_arrayagg', 'json_compact', 'json_extract', 'json_keys', 'json_merge', 'json_merge_patch', 'json_merge_preserve' ],
		...[ 'json_objectagg', 'json_pretty', 'json_query', 'json_remove', 'json_search' ],
	];

	public static function concerns( string $function ): bool {
		return in_array( $function, self::TAKERS, true );
	}

	/**
	 * @param WP_Parser_Node[] $arguments
	 * @return array<WP_Parser_Node|string> The arguments, with marks.
	 */
	public static function marked( string $function, array $arguments, Rewriting $rewriting ): array {
		if ( ! self::concerns( $function ) ) {
			return $arguments;
		}
		return array_map( static fn ( $argument ) => self::mark( $argument, $rewriting ), $arguments );
	}

	/** Whether an expression is a call that returns a document. */
	public static function is_document( WP_Parser_Node $node ): bool {
		$tokens = $node->get_descendant_tokens();
		$name   = strtolower( rtrim( implode( '', array_map( static fn ( $token ) => $token->get_value(), array_slice( $tokens, 0, 3 ) ) ), '( ' ) );
		foreach ( self::GIVERS as $giver ) {
			if ( str_starts_with( $name, $giver ) ) {
				return true;
			}
		}
		return str_starts_with( $name, 'mysql_json(' ) || str_starts_with( $name, 'json_group_' );
	}

	private static function mark( WP_Parser_Node $node, Rewriting $rewriting ) {
		$tokens = $node->get_descendant_tokens();
		$first  = $tokens[0];
		if ( 1 === count( $tokens ) && in_array( $first->id, [ Lexer::TRUE_SYMBOL, Lexer::FALSE_SYMBOL ], true ) ) {
			return $rewriting->sequence( [ "(char(0) || 'json:" . ( Lexer::TRUE_SYMBOL === $first->id ? 'true' : 'false' ) . "')" ], $node );
		}
		if ( self::is_document( $node ) ) {
			return $rewriting->sequence( [ "(char(0) || 'json:' || (", $node, '))' ], $node );
		}
		// Integers are marked as well: PDO passes no more than 32 bits of them to a function.
		return Large_Numbers::is_small( $node )
			? $node
			: $rewriting->sequence( [ 'iif(typeof(', $node, ") = 'integer', char(0) || 'json:' || (", $node, '), ', $node, ')' ], $node );
	}
}
