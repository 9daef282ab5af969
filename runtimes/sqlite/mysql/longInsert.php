<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;

/** INSERT and REPLACE with very many rows, as in dumps. The tree of a megabyte of numbers would not fit into PHP's memory. */
final class Long_Insert {
	/** Shorter statements stay as they are. In bytes. */
	public const LONG = 100000;
	/** Tokens of the rows of one part. */
	private const MOST_TOKENS = 20000;

	/**
	 * Returns statements with some of the rows each, or the statement alone if it has not so many of them.
	 *
	 * @return string[]
	 */
	public static function parts( Lexer $lexer, string $query ): array {
		$depth  = 0;
		$count  = 0;
		/** @var int[] $starts Where the rows of each part begin, once they have begun. */
		$starts = [];
		$ends   = [];
		$before = null;
		while ( $lexer->next_token() ) {
			$token   = $lexer->get_token();
			$is_open = Lexer::OPEN_PAR_SYMBOL === $token->id;
			if ( 0 === $depth && [] === $starts && in_array( $token->id, [ Lexer::SELECT_SYMBOL, Lexer::SET_SYMBOL ], true ) ) {
				return [ $query ];
			}
			if ( 0 === $depth && $is_open && in_array( $before, [ Lexer::VALUES_SYMBOL, Lexer::VALUE_SYMBOL ], true ) && [] === $starts ) {
				$starts[] = $token->start;
			}
			if ( 0 === $depth && [] !== $starts && ! $is_open && Lexer::COMMA_SYMBOL !== $token->id ) {
				break;
			}
			$depth += $is_open ? 1 : ( Lexer::CLOSE_PAR_SYMBOL === $token->id ? -1 : 0 );
			++$count;
			if ( 0 === $depth && [] !== $starts && Lexer::CLOSE_PAR_SYMBOL === $token->id ) {
				$ends[ count( $starts ) - 1 ] = $token->start + $token->length;
			} elseif ( 0 === $depth && [] !== $starts && $count > self::MOST_TOKENS ) {
				// The comma after a row.
				$starts[] = $token->start + $token->length;
				$count    = 0;
			}
			$before = $token->id;
		}
		if ( [] === $ends || count( $ends ) !== count( $starts ) ) {
			return [ $query ];
		}
		$head = substr( $query, 0, $starts[0] );
		$tail = substr( $query, end( $ends ) );
		return array_map( static fn ( int $start, int $end ) => $head . substr( $query, $start, $end - $start ) . $tail, $starts, $ends );
	}
}
