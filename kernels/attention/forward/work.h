// SPDX-License-Identifier: Apache-2.0
//
// What the host hands to the kernel: a list of pieces of work, and the facts that are the same for all of them.
#pragma once

namespace whet_kernels {

// One tile of query rows against a range of key tiles. With packed heads, row r of a tile is query row r / group of head r % group.
// A row's position is where it stands among the keys (bottom-right alignment).
struct Work {
  int q_row;        // first query row, counted over all sequences
  int rows;         // rows of the tile that exist, packed
  int head;         // third coordinate of Q: query head, or key head where heads are packed
  int kv_head;
  int batch;        // fifth coordinate of K and V (dense), or row of the page table
  int kv_row;       // first key row of the sequence in K and V (packed sequences; else 0)
  int position;     // of row 0
  int keys;         // of the sequence
  int first_key;    // keys before it do not exist
  int begin, end;   // key tiles; none: the rows see no key, and their output is zero
  int clean_begin, clean_end;  // key tiles in which every row sees every key
  int slot;         // place of the partial result; -1: this is all of the rows' work
  int first_slot, parts;       // partial results of the same rows, in consecutive places
  int ticket;       // counts those that are done
  int sequence;
  int unused[2];
};
static_assert(sizeof(Work) == 80, "the kernel reads it in words by the lanes of one warp");
constexpr int kWorkWords = sizeof(Work) / 4, kWorkPlaces = 4;

// Zero before the first launch; every launch leaves it so.
struct Counters {
  unsigned next, done;
};

struct Facts {
  const Work* work;
  const int* first_of_cta;   // CTA i does work [first_of_cta[i], first_of_cta[i + 1]); null: whoever is free takes the next
  Counters* counters;        // where first_of_cta is null
  unsigned* tickets;         // zero before the first launch, and after every one; null: a second launch adds up the parts
  const int* first_part;     // for it: the first piece of each ticket
  float* partial;            // rows x columns of V, unnormalised, per slot
  float* partial_norms;      // per slot and row: greatest logit (times log2 e) and sum
  const int* page_table;     // null: K and V are not paged
  const unsigned short* sink;  // bfloat16 per query head; null: none
  const float *q_descale, *k_descale, *v_descale;  // e4m3: per sequence and key head
  void* o;
  int num_work, pages_per_seq, last_page;  // last_page: greatest valid page number
  int page_size, page_rows;  // rows of one copy, a divisor of the page and of a tile
  int heads, kv_heads;
  int group, group_magic;    // packed heads of a tile (1: none), and 65536 / group + 1
  int q_box_bytes;           // of one block of columns
  int left, right;           // windows; -1: no limit
  float logit_scale;         // what a raw product is multiplied with to be an exponent of 2; under a softcap: the cap times log2 e
  float softcap_scale;       // under a softcap: what is multiplied before the tanh
};

}  // namespace whet_kernels
