<?php
namespace WP_MySQL_Layer;

/**
 * `MATCH … AGAINST`. There is no index: the words of each row are compared, and the result is how often they were found.
 * MySQL's numbers differ, but rank rows in nearly the same order.
 * https://dev.mysql.com/doc/refman/8.0/en/fulltext-search.html
 */
final class Fulltext_Functions extends Function_Set {
	public const WITH_NULL = [ 'mysql_match' ];

	/** InnoDB's index has no shorter words. */
	private const SHORTEST_WORD = 3;
	/** Words that InnoDB's index leaves out. */
	private const STOP_WORDS = [
		...[ 'about', 'are', 'com', 'for', 'from', 'how', 'that', 'the', 'this', 'und', 'was', 'what', 'when', 'where', 'who' ],
		...[ 'will', 'with', 'www' ],
	];

	/** Up to so many terms are looked for one by one. For more, the words of a text are counted once. */
	private const FEW_TERMS = 20;

	/** @var array<string, array<array{sign: string, words: string, is_beginning: bool}>> Terms by mode and search. */
	private array $searches = [];

	/** How well a row matches; 0 if it does not. Each text of the row is an argument. */
	public function mysql_match( $search, $is_boolean, ...$texts ): ?float {
		if ( null === $search ) {
			return null;
		}
		$key                      = "$is_boolean $search";
		$this->searches[ $key ] ??= $is_boolean ? self::boolean_terms( (string) $search ) : self::plain_terms( (string) $search );
		return self::relevance( $this->searches[ $key ], Letters::fold( implode( "\n", $texts ) ) );
	}

	/** @param array<array{sign: string, words: string, is_beginning: bool}> $terms */
	private static function relevance( array $terms, string $text ): float {
		$relevance    = 0.0;
		$has_optional = false;
		$has_required = false;
		$counts       = count( $terms ) > self::FEW_TERMS ? new Word_Counts( $text, $terms ) : null;
		foreach ( $terms as $term ) {
			$sign  = $term['sign'];
			$found = $counts?->of( $term ) ?? (int) preg_match_all( self::expression( $term ), $text );
			if ( ( '-' === $sign && $found > 0 ) || ( '+' === $sign && 0 === $found ) ) {
				return 0.0;
			}
			$has_required = $has_required || '+' === $sign;
			$has_optional = $has_optional || '-' !== $sign;
			$relevance   += '-' === $sign ? 0 : $found * ( '~' === $sign ? -0.5 : ( '>' === $sign ? 1.5 : ( '<' === $sign ? 0.5 : 1 ) ) );
		}
		return max( $relevance, $has_required ? 1.0 : 0.0 );
	}

	/** Any of the words. */
	private static function plain_terms( string $search ): array {
		preg_match_all( '/[\pL\pN_\']+/u', Letters::fold( $search ), $words );
		$terms = [];
		foreach ( array_unique( $words[0] ) as $word ) {
			if ( mb_strlen( $word ) >= self::SHORTEST_WORD && ! in_array( $word, self::STOP_WORDS, true ) ) {
				$terms[] = self::term( '', $word );
			}
		}
		return $terms;
	}

	/** Words and "phrases in quotes" with the signs + - ~ < > before and * after them. Parentheses count as spaces. */
	private static function boolean_terms( string $search ): array {
		preg_match_all( '/([-+~<>]?)\(?(?:"([^"]*)"|([\pL\pN_\']+)(\*?))/u', Letters::fold( $search ), $parts, PREG_SET_ORDER );
		$terms = [];
		foreach ( $parts as $part ) {
			$word    = $part[3] ?? '';
			$is_none = '' === $word && '' === trim( $part[2] );
			$short   = '' !== $word && '' === $part[4] && mb_strlen( $word ) < self::SHORTEST_WORD;
			if ( $is_none || $short || in_array( $word, self::STOP_WORDS, true ) ) {
				continue;
			}
			$terms[] = self::term( $part[1], '' === $word ? $part[2] : $word, '' !== ( $part[4] ?? '' ) );
		}
		return $terms;
	}

	private static function term( string $sign, string $words, bool $is_beginning = false ): array {
		return [
			'sign'         => $sign,
			'words'        => trim( $words ),
			'is_beginning' => $is_beginning,
		];
	}

	private static function expression( array $term ): string {
		$words = preg_replace( '/\s+/u', '[^\pL\pN_]+', preg_quote( $term['words'], '/' ) );
		return '/(?<![\pL\pN_])' . $words . ( $term['is_beginning'] ? '' : '(?![\pL\pN_])' ) . '/u';
	}
}

/** How often the words of a text, and beginnings of them, occur. */
final class Word_Counts {
	private const WORD = '/[\pL\pN]+/u';

	/** @var array<string, int> */
	private array $words;
	/** @var array<string, int> */
	private array $beginnings = [];

	/** @param array<array{words: string, is_beginning: bool}> $terms The terms that will be asked for. */
	public function __construct( string $text, array $terms ) {
		$this->words = array_count_values( self::words_of( $text ) );
		$lengths     = [];
		foreach ( $terms as $term ) {
			if ( $term['is_beginning'] ) {
				$lengths[ strlen( $term['words'] ) ] = true;
			}
		}
		ksort( $lengths );
		foreach ( [] === $lengths ? [] : $this->words as $word => $count ) {
			$this->count_beginnings( (string) $word, $count, array_keys( $lengths ) );
		}
	}

	/** Returns how often a term occurs, or null if only the text itself can tell: for phrases with words that all occur. */
	public function of( array $term ): ?int {
		$words = self::words_of( $term['words'] );
		if ( [ $term['words'] ] === $words ) {
			return ( $term['is_beginning'] ? $this->beginnings : $this->words )[ $term['words'] ] ?? 0;
		}
		foreach ( $term['is_beginning'] ? array_slice( $words, 0, -1 ) : $words as $word ) {
			if ( ! isset( $this->words[ $word ] ) ) {
				return 0;
			}
		}
		return null;
	}

	/** @return string[] */
	private static function words_of( string $text ): array {
		return preg_match_all( self::WORD, $text, $words ) > 0 ? $words[0] : [];
	}

	/** @param int[] $lengths In bytes, ascending. */
	private function count_beginnings( string $word, int $count, array $lengths ): void {
		foreach ( $lengths as $length ) {
			if ( $length > strlen( $word ) ) {
				return;
			}
			$beginning                      = substr( $word, 0, $length );
			$this->beginnings[ $beginning ] = ( $this->beginnings[ $beginning ] ?? 0 ) + $count;
		}
	}
}
