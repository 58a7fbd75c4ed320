"""Flattens the pair kerning of ASCII from GPOS into a `kern` table, which every reader of fonts knows."""
import sys
from fontTools.ttLib import TTFont, newTable
from fontTools.ttLib.tables._k_e_r_n import KernTable_format_0

def value(subtable, left, right):
    if left not in subtable.Coverage.glyphs: return None
    if subtable.Format == 1:
        for record in subtable.PairSet[subtable.Coverage.glyphs.index(left)].PairValueRecord:
            if record.SecondGlyph == right: return getattr(record.Value1, 'XAdvance', 0)
        return None
    first = subtable.ClassDef1.classDefs.get(left, 0)
    second = subtable.ClassDef2.classDefs.get(right, 0)
    return getattr(subtable.Class1Record[first].Class2Record[second].Value1, 'XAdvance', 0)

font = TTFont(sys.argv[1]); font.flavor = None
gpos = font['GPOS'].table
latin = next(r.Script for r in gpos.ScriptList.ScriptRecord if r.ScriptTag == 'latn').DefaultLangSys
lookups = sorted({i for f in latin.FeatureIndex for i in gpos.FeatureList.FeatureRecord[f].Feature.LookupListIndex})
glyphs = [font.getBestCmap()[code] for code in range(0x20, 0x7f)]
pairs = {}
for left in glyphs:
    for right in glyphs:
        total = 0
        for index in lookups:
            for s in gpos.LookupList.Lookup[index].SubTable:
                found = value(getattr(s, 'ExtSubTable', s), left, right)
                if found is not None:
                    total += found; break
        if abs(total) >= 20: pairs[left, right] = total
kern = newTable('kern'); kern.version = 0
table = KernTable_format_0(); table.coverage = 1; table.kernTable = pairs; table.apple = False; table.tupleIndex = None
kern.kernTables = [table]
font['kern'] = kern; del font['GPOS'], font['GSUB']
font.save(sys.argv[2]); print(len(pairs), pairs.get(('A','V')))
