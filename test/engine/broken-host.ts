/** A probe thread that never gets to work. */
export default (): never => {
  throw new Error('this thread cannot work');
};
