/**
 * Telephone codes of ITU-T G.711, by its formulas: eight bits for a 14-bit (µ-law) or 13-bit (A-law) sample, here widened to
 * the range of 16-bit samples as is usual.
 */

const MU_LAW_BIAS = 0x84;

/** 16-bit sample of a µ-law byte: 0x00 → −32124, 0x80 → 32124, 0x7F and 0xFF → 0. */
export function muLawToPcm(code: number): number {
  const bits = ~code & 0xff;
  const exponent = (bits >> 4) & 0x07;
  const mantissa = bits & 0x0f;
  const magnitude = (((mantissa << 3) + MU_LAW_BIAS) << exponent) - MU_LAW_BIAS;
  return (bits & 0x80) !== 0 && magnitude !== 0 ? -magnitude : magnitude;
}

/** 16-bit sample of an A-law byte: 0xD5 → 8, 0x55 → −8, 0x2A → −32256. */
export function aLawToPcm(code: number): number {
  const bits = (code & 0xff) ^ 0x55;
  const exponent = (bits >> 4) & 0x07;
  const step = (bits & 0x0f) << 4;
  const magnitude = exponent === 0 ? step + 8 : (step + 0x108) << (exponent - 1);
  return (bits & 0x80) !== 0 ? magnitude : -magnitude;
}

/** µ-law byte of a 16-bit sample (G.711 table 2a); larger magnitudes are clipped. */
export function pcmToMuLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const biased = Math.min(Math.abs(Math.trunc(sample)), 32_635) + MU_LAW_BIAS;
  const exponent = Math.max(0, 31 - Math.clz32(biased) - 7);
  const mantissa = (biased >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}

/** All 256 samples of a code, −1 … 1. */
export function g711Table(toPcm: (code: number) => number): Float32Array {
  return Float32Array.from({ length: 256 }, (_, code) => toPcm(code) / 32_768);
}
