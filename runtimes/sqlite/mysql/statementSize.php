<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;

/**
 * Refuses statements that PHP could not finish: it would end without an error that a plugin can handle. The tree of a
 * statement needs memory for each token, and a part of the stack for each of its levels when it is freed.
 */
final class Statement_Size {
	/** Shorter statements are not checked: so few tokens can't exceed a limit. */
	private const HARMLESS = 70;
	/** Parentheses within each other. */
	private const DEEPEST = 300;
	/** CASE, CAST and CONVERT within each other: the driver's parser takes twice as long for each. */
	private const DEEPEST_CASE = 14;
	/** Operators between two commas, parentheses or words of CASE: of sums, and of conditions. */
	private const MOST_SUMMANDS   = 1000;
	private const MOST_CONDITIONS = 2000;
	/** Columns and keys of a table: as many as InnoDB can have. */
	private const MOST_DEFINITIONS = 1017 + 64;
	/** First tokens of statements with definitions, and the parentheses around these. */
	private const DEFINITIONS = [
		Lexer::CREATE_SYMBOL => 1,
		Lexer::ALTER_SYMBOL  => 0,
	];
	/** An INTERVAL counts as so many operators: all of them are looked at again for each. */
	private const SIGNS_OF_INTERVAL = 10;
	/** What counts. */
	private const KINDS = [
		Lexer::OPEN_PAR_SYMBOL      => 'open',
		Lexer::CLOSE_PAR_SYMBOL     => 'close',
		Lexer::COMMA_SYMBOL         => 'break',
		Lexer::WHEN_SYMBOL          => 'break',
		Lexer::THEN_SYMBOL          => 'break',
		Lexer::ELSE_SYMBOL          => 'break',
		Lexer::CASE_SYMBOL          => 'case',
		Lexer::CAST_SYMBOL          => 'cast',
		Lexer::CONVERT_SYMBOL       => 'cast',
		Lexer::END_SYMBOL           => 'end',
		Lexer::OR_SYMBOL            => 'condition',
		Lexer::AND_SYMBOL           => 'condition',
		Lexer::LOGICAL_OR_OPERATOR  => 'condition',
		Lexer::LOGICAL_AND_OPERATOR => 'condition',
		Lexer::PLUS_OPERATOR        => 'sign',
		Lexer::MINUS_OPERATOR       => 'sign',
		Lexer::MULT_OPERATOR        => 'sign',
		Lexer::DIV_OPERATOR         => 'sign',
		Lexer::DIV_SYMBOL           => 'sign',
		Lexer::MOD_OPERATOR         => 'sign',
		Lexer::MOD_SYMBOL           => 'sign',
		Lexer::BITWISE_AND_OPERATOR => 'sign',
		Lexer::BITWISE_OR_OPERATOR  => 'sign',
		Lexer::BITWISE_XOR_OPERATOR => 'sign',
		Lexer::SHIFT_LEFT_OPERATOR  => 'sign',
		Lexer::SHIFT_RIGHT_OPERATOR => 'sign',
		Lexer::BINARY_SYMBOL        => 'sign',
		Lexer::INTERVAL_SYMBOL      => 'interval',
		Lexer::NOT_SYMBOL           => 'sign',
		Lexer::NOT2_SYMBOL          => 'sign',
		Lexer::LOGICAL_NOT_OPERATOR => 'sign',
		Lexer::BITWISE_NOT_OPERATOR => 'sign',
	];
	/** Bytes of memory that the tree needs for each token. */
	private const BYTES = 1900;

	/** @param WP_MySQL_Token[] $tokens The tokens of the text `$query`. */
	public static function check( array $tokens, string $query, Driver $driver ): void {
		$count = count( $tokens );
		if ( $count < self::HARMLESS ) {
			return;
		}
		$limit = self::memory_limit();
		if ( $limit > 0 && memory_get_usage() + $count * self::BYTES > $limit ) {
			throw Errors::unsupported( $driver, "A statement of $count words and signs needs more memory than PHP may use" );
		}
		if ( $count <= self::DEEPEST && false === stripos( $query, 'cas' ) && false === stripos( $query, 'conv' ) ) {
			// Without CASE, CAST and CONVERT, it takes more tokens to exceed a limit.
			return;
		}
		if ( $count > self::MOST_DEFINITIONS && isset( self::DEFINITIONS[ $tokens[0]->id ] ) && self::definitions( $tokens ) > self::MOST_DEFINITIONS ) {
			throw Errors::create( $driver, 1117, 'Too many columns' );
		}
		[ $parentheses, $cases, $signs, $conditions ] = self::deepest( $tokens );
		if ( $parentheses > self::DEEPEST || $cases > self::DEEPEST_CASE || $signs > self::MOST_SUMMANDS || $conditions > self::MOST_CONDITIONS ) {
			throw Errors::unsupported( $driver, 'The statement has too many levels of parentheses, CASE, CAST, or operators' );
		}
	}

	/** Returns how many definitions CREATE or ALTER has. @param WP_MySQL_Token[] $tokens */
	private static function definitions( array $tokens ): int {
		$depth  = 0;
		$commas = [];
		foreach ( $tokens as $token ) {
			if ( Lexer::OPEN_PAR_SYMBOL === $token->id ) {
				++$depth;
			} elseif ( Lexer::CLOSE_PAR_SYMBOL === $token->id ) {
				--$depth;
			} elseif ( Lexer::COMMA_SYMBOL === $token->id ) {
				$commas[ $depth ] = ( $commas[ $depth ] ?? 0 ) + 1;
			}
		}
		return 1 + ( $commas[ self::DEFINITIONS[ $tokens[0]->id ] ] ?? 0 );
	}

	/**
	 * Returns the most parentheses, and CASEs and CASTs, within each other, and the most signs and conditions after one another.
	 *
	 * @param WP_MySQL_Token[] $tokens
	 */
	private static function deepest( array $tokens ): array {
		$depth = $cases = $signs = $conditions = 0;
		$most  = [ 0, 0, 0, 0 ];
		/** @var int[] $casts The parentheses around each CAST. */
		$casts = [];
		foreach ( $tokens as $token ) {
			$kind = self::KINDS[ $token->id ] ?? null;
			if ( null === $kind ) {
				continue;
			}
			switch ( $kind ) {
				case 'open':
					$most[0] = max( $most[0], ++$depth );
					$signs   = $conditions = 0;
					break;
				case 'close':
					--$depth;
					$signs = $conditions = 0;
					if ( end( $casts ) === $depth ) {
						array_pop( $casts );
					}
					break;
				case 'break':
					$signs = $conditions = 0;
					break;
				case 'case':
					$most[1] = max( $most[1], ++$cases );
					break;
				case 'cast':
					$casts[] = $depth;
					$most[1] = max( $most[1], count( $casts ) );
					break;
				case 'end':
					$cases = max( 0, $cases - 1 );
					break;
				case 'condition':
					$most[3] = max( $most[3], ++$conditions );
					$signs   = 0;
					break;
				case 'interval':
					$signs   += self::SIGNS_OF_INTERVAL;
					$most[2] = max( $most[2], $signs );
					break;
				case 'sign':
					$most[2] = max( $most[2], ++$signs );
					break;
			}
		}
		return $most;
	}

	/** Bytes that PHP may use; 0 or less if there is no limit. */
	private static function memory_limit(): int {
		$text  = (string) ini_get( 'memory_limit' );
		$units = [ 'K' => 1 << 10, 'M' => 1 << 20, 'G' => 1 << 30 ];
		return (int) $text * ( $units[ strtoupper( substr( $text, -1 ) ) ] ?? 1 );
	}
}
