// SPDX-License-Identifier: Apache-2.0
// Which unit an instruction keeps busy, by its opcode without modifiers.
#include <algorithm>
#include <array>

#include "truth/profile/sass.h"

namespace whet {
namespace {

struct ClassRow {
  const char* name;
  std::vector<std::string_view> opcodes;   // whole
  std::vector<std::string_view> prefixes;  // of opcodes
};

// The first row that has the opcode counts.
const std::vector<ClassRow>& rows() {
  static const std::vector<ClassRow> table = {
      {"tensor", {"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "BGMMA", "QGMMA"}, {"UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA", "UTCMXQMMA"}},
      {"tensor control", {"WARPGROUP", "WARPGROUPSET", "USETMAXREG"}, {"UTCBAR", "UTCCP", "UTCATOMSWS", "UTCSHIFT"}},
      {"tensor memory", {"LDTM", "STTM"}, {}},
      {"bulk copy", {"UBLKCP", "UBLKPF", "UBLKRED"}, {"UTMA"}},
      {"async copy", {"LDGSTS", "LDGDEPBAR"}, {}},
      {"local memory", {"LDL", "STL"}, {}},
      {"global load", {"LDG", "LD", "LDE"}, {}},
      {"global store", {"STG", "ST", "STE"}, {}},
      {"atomic", {"ATOM", "ATOMG", "ATOMS", "RED", "REDG", "REDAS"}, {}},
      {"matrix load/store", {"LDSM", "STSM", "MOVM"}, {}},
      {"shared load", {"LDS", "LDSLK"}, {}},
      {"shared store", {"STS", "STSCUL", "STAS"}, {}},
      {"constant load", {"LDC", "ULDC", "LDCU", "CCTL"}, {}},
      {"texture", {"TEX", "TLD", "TLD4", "TMML", "TXD", "TXQ", "SULD", "SUST", "SUATOM", "SURED", "TTU"}, {}},
      {"special function", {"MUFU"}, {}},
      {"f64", {"DFMA", "DADD", "DMUL", "DSETP", "DMNMX"}, {}},
      {"f32", {"FFMA", "FFMA2", "FADD", "FADD2", "FMUL", "FMUL2", "FFMA32I", "FADD32I", "FMUL32I", "FMNMX", "FMNMX3", "FSEL", "FSET", "FSETP", "FCHK", "FSWZADD"}, {}},
      {"f16", {"HFMA2", "HADD2", "HMUL2", "HSET2", "HSETP2", "HMNMX2", "HFMA2_32I", "HADD2_32I", "HMUL2_32I", "VHMNMX"}, {}},
      {"conversion", {"F2F", "F2FP", "F2I", "F2IP", "I2F", "I2FP", "I2I", "I2IP", "FRND"}, {}},
      {"barrier", {"BAR", "UBAR", "SYNCS", "DEPBAR", "MEMBAR", "ERRBAR", "FENCE", "WARPSYNC", "B2R", "UCGABAR_ARV", "UCGABAR_WAIT", "ACQBULK", "NANOSLEEP", "ELECT", "ENDCOLLECTIVE"}, {}},
      {"shuffle and vote", {"SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX", "R2UR", "QSPC"}, {}},
      {"branch", {"BRA", "BRX", "JMP", "JMX", "CALL", "RET", "EXIT", "BSSY", "BSYNC", "BREAK", "BMOV", "BPT", "KILL", "YIELD", "RPCMOV", "BRXU", "JMXU", "PRET", "WARPEXIT"}, {}},
      {"uniform datapath", {}, {"U"}},
      {"move and select", {"MOV", "MOV32I", "SEL", "PRMT", "S2R", "S2UR", "CS2R", "P2R", "R2P", "PLOP3", "PSETP", "LEPC", "GETLMEMBASE", "R2B", "SGXT", "R2UR"}, {}},
      {"integer", {"IMAD", "IADD3", "IADD", "IADD32I", "IMUL", "ISETP", "IMNMX", "VIMNMX", "VIMNMX3", "VIADD", "VIADDMNMX", "LEA", "LOP", "LOP3", "SHF", "SHL", "SHR", "POPC", "FLO", "BREV", "BMSK", "IABS", "IDP",
                   "IDP4A", "ISCADD", "ISET", "LOP32I", "VABSDIFF", "VABSDIFF4", "IMUL32I"}, {}},
  };
  return table;
}

constexpr const char* kOther = "other";

}  // namespace

std::string_view class_of(std::string_view opcode) {
  const std::string_view name = opcode.substr(0, opcode.find('.'));
  // HFMA2.MMA, IMAD.MOV and the like compute nothing but a move; they occupy the pipe of their name, which is what a mix is to show.
  for (const ClassRow& row : rows()) {
    if (std::find(row.opcodes.begin(), row.opcodes.end(), name) != row.opcodes.end()) return row.name;
    for (std::string_view prefix : row.prefixes)
      if (name.starts_with(prefix)) return row.name;
  }
  return kOther;
}

const std::vector<std::string>& sass_classes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const ClassRow& row : rows()) all.emplace_back(row.name);
    all.emplace_back(kOther);
    return all;
  }();
  return names;
}

}  // namespace whet
